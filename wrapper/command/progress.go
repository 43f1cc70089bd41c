// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package command

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/zclconf/go-cty/cty"

	"github.com/tfweaver/tfweaver/wrapper/intercept"
	"github.com/tfweaver/tfweaver/wrapper/views"
)

const (
	// firstProgress is how long nothing may be seen before it is told what goes
	// on, and laterProgress how long after that.
	firstProgress = 1500 * time.Millisecond
	laterProgress = 10 * time.Second
)

// doingPlan is what the CLI does in the first half of an apply.
const doingPlan = "planning"

// meter tells what goes on while the CLI prints nothing. Of a read the CLI prints
// a line itself; of the planning of an object it does not.
type meter struct {
	intercept.Watcher
	view         views.View
	first, later time.Duration

	reads, plans atomic.Int64
	// shown is when the CLI last printed something, in nanoseconds since the Unix
	// epoch.
	shown atomic.Int64
}

func newMeter(watcher intercept.Watcher, view views.View) *meter {
	return &meter{Watcher: watcher, view: view, first: firstProgress, later: laterProgress}
}

// Read implements intercept.Watcher.
func (m *meter) Read(ctx context.Context, provider, resourceType string, before, after, providerConfig cty.Value) {
	m.reads.Add(1)
	m.shown.Store(time.Now().UnixNano())
	m.Watcher.Read(ctx, provider, resourceType, before, after, providerConfig)
}

// Planned implements intercept.Watcher.
func (m *meter) Planned(ctx context.Context, provider, resourceType string) {
	m.plans.Add(1)
	m.Watcher.Planned(ctx, provider, resourceType)
}

// during tells of the progress of what is done until the returned function is
// called, or until over says that the CLI speaks for itself; over may be nil.
func (m *meter) during(doing string, over func() bool) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		m.follow(ctx, doing, over)
	}()
	return func() {
		cancel()
		<-done
	}
}

func (m *meter) follow(ctx context.Context, doing string, over func() bool) {
	begun := time.Now()
	last, patience := begun, m.first
	for {
		if shown := time.Unix(0, m.shown.Load()); shown.After(last) {
			last = shown
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(time.Until(last.Add(patience))):
		}
		if over != nil && over() {
			return
		}
		if time.Unix(0, m.shown.Load()).After(last) {
			continue
		}
		m.view.Progress(views.Progress{
			Doing: doing, Read: int(m.reads.Load()), Planned: int(m.plans.Load()), Elapsed: time.Since(begun),
		})
		last, patience = time.Now(), m.later
	}
}
