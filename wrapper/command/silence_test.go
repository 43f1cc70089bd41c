// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package command

import (
	"sync/atomic"
	"testing"
	"time"
)

// owing is a coordinator that owes an answer since some time, in nanoseconds since
// the Unix epoch; 0 for one that owes none.
type owing struct{ since, looks atomic.Int64 }

func (o *owing) unanswered() (time.Time, bool) {
	o.looks.Add(1)
	at := o.since.Load()
	return time.Unix(0, at), at != 0
}

// look waits until somebody has looked so many times more.
func (o *owing) look(t *testing.T, n int64) {
	t.Helper()
	want := o.looks.Load() + n
	for deadline := time.Now().Add(20 * time.Second); o.looks.Load() < want; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("nobody looks")
		}
	}
}

// TestSilenceIsTold: at once when it has lasted, later again, and at the end.
func TestSilenceIsTold(t *testing.T) {
	t.Parallel()
	view, o := &told{}, &owing{}
	s := &silence{view: view, unanswered: o.unanswered, step: time.Millisecond, whom: func(time.Time) string { return "waiting" }}
	stop := s.watch()
	o.look(t, 2*firstSilence)
	if lines := view.lines(); len(lines) > 0 {
		t.Fatalf("told of nothing: %+v", lines)
	}
	o.since.Store(time.Now().Add(-time.Minute).UnixNano())
	for _, l := range view.await(t, 2) {
		if l.Doing != "waiting" || l.Elapsed < time.Minute {
			t.Errorf("%+v", l)
		}
	}
	o.since.Store(0)
	o.look(t, firstSilence)
	if longest := stop(); longest < time.Minute || longest != stop() {
		t.Errorf("it was silent for %s at most", longest)
	}
}

// TestShortSilences: one question after the other that is answered late is no
// silence, however long they last together.
func TestShortSilences(t *testing.T) {
	t.Parallel()
	view, o := &told{}, &owing{}
	n := 0
	s := &silence{view: view, step: time.Millisecond, whom: func(time.Time) string { return "waiting" }}
	s.unanswered = func() (time.Time, bool) {
		if n++; n%firstSilence == 0 {
			o.since.Store(time.Now().UnixNano())
		}
		return o.unanswered()
	}
	stop := s.watch()
	o.look(t, 5*firstSilence)
	if longest := stop(); longest != 0 || len(view.lines()) > 0 {
		t.Errorf("silent for %s, told %+v", longest, view.lines())
	}
}
