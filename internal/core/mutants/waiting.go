// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package mutants

import "time"

// patience is how long a stage may take before anybody is told that it runs.
const patience = 10 * time.Second

// telling says what a worker is at when that takes long: after the time that
// patience is, when a minute is full, and every minute from then on. done ends it.
func (w *worker) telling(p Patch, stage string) (done func()) {
	if w.Waiting == nil {
		return func() {}
	}
	first, later := w.patience, 6*w.patience
	begun, stop, ended := time.Now(), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		next := time.NewTimer(first)
		defer next.Stop()
		for told := 0; ; told++ {
			select {
			case <-stop:
				return
			case <-next.C:
			}
			w.Waiting(p, stage, time.Since(begun))
			next.Reset(time.Until(begun.Add(time.Duration(told+1) * later)))
		}
	}()
	return func() { close(stop); <-ended }
}
