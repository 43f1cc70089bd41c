// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package embedded

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"github.com/tfweaver/tfweaver/internal/coordinator/server"
	"github.com/tfweaver/tfweaver/internal/journal/bboltjournal"
)

// lookEvery is how often a serving process makes sure that it still is the one
// that others find.
const lookEvery = time.Second

// whileInPlace is ctx, ended also once this process serves a journal that
// nobody can find any more: its file was moved away or replaced, or another
// process has published itself, as may happen while this one was paused. Such a
// process decides nothing any more, and must not wait for the journal either:
// it would lead it one day without being published. The function returned
// begins the watch; it is called with the epoch once that is published.
func (o Options) whileInPlace(ctx context.Context) (context.Context, func(epoch uint64), context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	return ctx, func(epoch uint64) {
		path := filepath.Join(o.Dir, bboltjournal.FileName)
		info, err := os.Stat(path)
		if err != nil {
			o.Logger.Warn("the journal is gone already", "error", err)
			cancel()
			return
		}
		go func() {
			tick := time.NewTicker(lookEvery)
			defer tick.Stop()
			for {
				select {
				case <-ctx.Done():
					return
				case <-tick.C:
				}
				if why := o.superseded(path, info, epoch); why != "" {
					o.Logger.Error("ending: nobody can find this coordinator any more", "reason", why)
					cancel()
					return
				}
			}
		}()
	}, cancel
}

// superseded says why this process cannot be found; empty if it can.
func (o Options) superseded(path string, info os.FileInfo, epoch uint64) string {
	now, err := os.Stat(path)
	if os.IsNotExist(err) {
		return "the journal was moved away"
	}
	if err == nil && !os.SameFile(now, info) {
		return "the journal was replaced"
	}
	l, ok, err := server.ReadLeader(o.Dir)
	if err == nil && ok && (l.PID != os.Getpid() || l.Epoch != epoch) {
		return "another process leads"
	}
	return ""
}
