// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package command

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/zclconf/go-cty/cty"

	"github.com/tfweaver/tfweaver/wrapper/intercept"
	"github.com/tfweaver/tfweaver/wrapper/views"
)

// told collects what is told of the progress, and shows nothing else.
type told struct {
	views.View
	mu   sync.Mutex
	list []views.Progress
}

func (v *told) Progress(p views.Progress) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.list = append(v.list, p)
}

func (v *told) lines() []views.Progress {
	v.mu.Lock()
	defer v.mu.Unlock()
	return append([]views.Progress{}, v.list...)
}

// await waits until so many lines were told.
func (v *told) await(t *testing.T, n int) []views.Progress {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(time.Millisecond) {
		if lines := v.lines(); len(lines) >= n {
			return lines
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d lines of progress, want %d", len(v.lines()), n)
		}
	}
}

// blind watches nothing.
type blind struct{ intercept.Watcher }

func (blind) Read(context.Context, string, string, cty.Value, cty.Value, cty.Value) {}

func (blind) Planned(context.Context, string, string) {}

func TestProgressIsTold(t *testing.T) {
	t.Parallel()
	view := &told{}
	m := newMeter(blind{}, view)
	m.first, m.later = time.Millisecond, 2*time.Millisecond
	m.Planned(t.Context(), "p", "t")
	stop := m.during("planning", nil)
	lines := view.await(t, 3)
	stop()
	if lines[0].Doing != "planning" || lines[0].Planned != 1 || lines[2].Elapsed <= lines[0].Elapsed {
		t.Errorf("told: %+v", lines)
	}
	told := len(view.lines())
	time.Sleep(10 * time.Millisecond)
	if len(view.lines()) != told {
		t.Error("progress is told after the end")
	}
}

// TestProgressIsSilent while the CLI prints something itself, and from when on it
// speaks for itself.
func TestProgressIsSilent(t *testing.T) {
	t.Parallel()
	view := &told{}
	m := newMeter(blind{}, view)
	m.first = time.Millisecond
	m.Read(t.Context(), "p", "t", cty.NilVal, cty.NilVal, cty.NilVal)
	if m.shown.Load() == 0 {
		t.Error("a read counts as silence")
	}
	m.shown.Store(time.Now().Add(time.Hour).UnixNano())
	stop := m.during("planning", nil)
	time.Sleep(20 * time.Millisecond)
	stop()
	m.shown.Store(0)

	m.first, m.later = time.Nanosecond, time.Nanosecond
	var asked atomic.Bool
	stop = m.during("applying", func() bool { asked.Store(true); return true })
	for deadline := time.Now().Add(20 * time.Second); !asked.Load() && time.Now().Before(deadline); {
		time.Sleep(time.Millisecond)
	}
	stop()
	if lines := view.lines(); len(lines) != 0 || !asked.Load() {
		t.Errorf("asked %v, told: %+v", asked.Load(), lines)
	}
}
