// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package gatekeeper

import (
	"context"
	"sync"
)

// backlog is the work that outcomes leave behind: to find out what became of a
// call, and to report it when the coordinator is away for a moment.
type backlog struct {
	mu   sync.Mutex
	ctx  context.Context
	end  context.CancelFunc
	jobs sync.WaitGroup
}

// add does a job in the background. Its context ends when nobody waits for it
// any more.
func (b *backlog) add(job func(ctx context.Context)) {
	ctx := b.context()
	b.jobs.Go(func() { job(ctx) })
}

func (b *backlog) context() context.Context {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ctx == nil {
		b.ctx, b.end = context.WithCancel(context.Background())
	}
	return b.ctx
}

// wait waits for the jobs, and makes them come to an end when ctx ends.
func (b *backlog) wait(ctx context.Context) {
	b.context()
	detach := context.AfterFunc(ctx, b.end)
	defer detach()
	b.jobs.Wait()
}

// stop ends the jobs.
func (b *backlog) stop() {
	b.context()
	b.end()
	b.jobs.Wait()
}
