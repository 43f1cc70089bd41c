// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package liveness

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/tfweaver/tfweaver/internal/coordinator"
	"github.com/tfweaver/tfweaver/internal/core/admission"
)

const (
	// scanEvery is how often processes without a handle are looked at, and
	// maxScan how many of them at once.
	scanEvery = time.Second
	maxScan   = 512
	// sweepEvery is how often sessions are dropped that have ended.
	sweepEvery = 10 * time.Second
)

// Mourner is who has to know.
type Mourner interface {
	// Deceased says that all processes of a session are dead; with idle set,
	// only that the one is that opened it: this means nothing while a call may
	// be on its way, and it then returns false.
	Deceased(ctx context.Context, id admission.SessionID, idle bool) (bool, error)
	// Mortal says of which sessions the death would still tell something.
	Mortal(ctx context.Context, ids []admission.SessionID) (map[admission.SessionID]bool, error)
}

// Watch tells the mourner of deaths until ctx ends. One watch at a time.
func (r *Registry) Watch(ctx context.Context, m Mourner) error {
	a, err := newAlarm()
	if err != nil {
		return fmt.Errorf("watch processes: %w", err)
	}
	r.setAlarm(a)
	defer func() {
		r.setAlarm(nil)
		a.close()
	}()
	stop := context.AfterFunc(ctx, r.ring)
	defer stop()
	w := watch{
		r: r, m: m, alarm: a,
		fates: map[coordinator.Process]Fate{}, later: map[admission.SessionID]time.Time{},
	}
	for ctx.Err() == nil {
		sessions, _ := r.copy()
		w.meet(sessions)
		w.scan()
		w.tell(ctx, sessions)
		w.sweep(ctx)
		for _, p := range a.wait(w.patience()) {
			w.see(p)
		}
	}
	return nil
}

// watch is the knowledge of the goroutine that watches.
type watch struct {
	r     *Registry
	m     Mourner
	alarm *alarm
	fates map[coordinator.Process]Fate
	// blind are the living processes without a handle, in the order in which
	// they will be looked at.
	blind   []coordinator.Process
	scanned time.Time
	swept   time.Time
	// later is when the mourner may be told again.
	later map[admission.SessionID]time.Time
}

// meet looks at processes that are new, and forgets those that nobody names.
func (w *watch) meet(sessions map[admission.SessionID]Kin) {
	named := map[coordinator.Process]bool{}
	for _, k := range sessions {
		for _, p := range k.all() {
			named[p] = true
			if _, ok := w.fates[p]; !ok {
				w.greet(p)
			}
		}
	}
	for p := range w.fates {
		if !named[p] {
			w.alarm.forget(p)
			delete(w.fates, p)
		}
	}
}

func (w *watch) greet(p coordinator.Process) {
	handle := w.alarm.watch(p)
	w.see(p)
	if !handle && w.fates[p] == Alive && !slices.Contains(w.blind, p) {
		w.blind = append(w.blind, p)
	}
}

// see looks at one process.
func (w *watch) see(p coordinator.Process) {
	f := Look(p)
	w.fates[p] = f
	if f != Alive {
		w.alarm.forget(p)
	}
}

// scan looks at some of the processes without a handle.
func (w *watch) scan() {
	if len(w.blind) == 0 || time.Since(w.scanned) < scanEvery {
		return
	}
	w.scanned = time.Now()
	n := min(len(w.blind), maxScan)
	now := w.blind[:n]
	w.blind = w.blind[n:]
	for _, p := range now {
		if _, ok := w.fates[p]; !ok {
			continue // nobody names it any more
		}
		if w.see(p); w.fates[p] == Alive {
			w.blind = append(w.blind, p)
		}
	}
}

// tell reports the sessions whose processes are dead.
func (w *watch) tell(ctx context.Context, sessions map[admission.SessionID]Kin) {
	now := time.Now()
	for id, k := range sessions {
		if w.fates[k.Wrapper] != Dead || now.Before(w.later[id]) {
			continue
		}
		said, err := w.m.Deceased(ctx, id, !w.extinct(k))
		switch {
		case err == nil && said, errors.Is(err, admission.ErrNoSession):
			w.r.log.Info("the processes of a session are dead", "session", id, "pid", k.Wrapper.PID, "senders", len(k.Senders))
			w.drop(id)
		case err == nil:
			w.later[id] = now.Add(scanEvery)
		default:
			w.r.log.Warn("the death of a session is not on record yet", "session", id, "error", err)
			w.later[id] = now.Add(scanEvery)
		}
	}
}

// extinct says whether nobody is left who could send. That is not known of a
// session that has not named its senders.
func (w *watch) extinct(k Kin) bool {
	for _, p := range k.Senders {
		if w.fates[p] != Dead {
			return false
		}
	}
	return k.Named
}

func (w *watch) drop(ids ...admission.SessionID) {
	for _, id := range ids {
		delete(w.later, id)
	}
	if len(ids) > 0 {
		w.r.forget(ids...)
	}
}

// sweep drops the sessions that have ended with nothing left to know.
func (w *watch) sweep(ctx context.Context) {
	if time.Since(w.swept) < sweepEvery {
		return
	}
	w.swept = time.Now()
	sessions, _ := w.r.copy()
	ids := make([]admission.SessionID, 0, len(sessions))
	for id := range sessions {
		ids = append(ids, id)
	}
	if len(ids) == 0 {
		return
	}
	mortal, err := w.m.Mortal(ctx, ids)
	if err != nil {
		return // the next time
	}
	var gone []admission.SessionID
	for id := range sessions {
		if !mortal[id] {
			gone = append(gone, id)
		}
	}
	w.drop(gone...)
}

// patience is for how long nothing has to be done.
func (w *watch) patience() time.Duration {
	if len(w.blind) > 0 || len(w.later) > 0 {
		return scanEvery
	}
	return sweepEvery
}
