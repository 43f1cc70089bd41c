// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package mutants

import (
	"context"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
)

// Interruptible is a context that ends when the program is asked to: by an
// interrupt, by the end of its terminal, or by a plain kill. A second request
// ends the program at once. code is what to exit with: 128 and the number of the
// signal, or 0 if there was none.
func Interruptible(parent context.Context) (ctx context.Context, code func() int) {
	ctx, cancel := context.WithCancel(parent)
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) { // nohup
		signal.Notify(asked, syscall.SIGHUP)
	}
	var number atomic.Int32
	go func() {
		defer cancel()
		select {
		case s := <-asked:
			if n, ok := s.(syscall.Signal); ok {
				number.Store(128 + int32(n))
			}
		case <-ctx.Done():
		}
		signal.Stop(asked)
	}()
	return ctx, func() int { return int(number.Load()) }
}
