// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package coordinator

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// stepDown fails everybody whose command may or may not be on record, throws
// the state away, and leads again until that works or the coordinator closes.
func (r *realm) stepDown(cause error) {
	r.c.log.Error("stepping down", "epoch", r.epoch, "index", r.last, "error", cause)
	for _, o := range r.pending() {
		if !o.taken.CompareAndSwap(false, true) {
			continue
		}
		if !errors.Is(o.err, ErrBroken) {
			o.err = fmt.Errorf("%w: %w", ErrUnavailable, cause)
		}
		close(o.done)
	}
	r.lost = true
	for pause := 10 * time.Millisecond; ; pause = min(2*pause, time.Second) {
		err := r.leadUnlessStopped()
		if err == nil {
			return
		}
		r.c.log.Error("cannot lead", "error", err)
		if !r.turnAway(pause, err) {
			return
		}
	}
}

// pending takes everybody who was not answered yet out of the batches.
func (r *realm) pending() []*op {
	var ops []*op
	if r.flight != nil {
		ops = r.flight.ops
	}
	ops = append(ops, r.next.ops...)
	r.flight, r.next = nil, batch{}
	return ops
}

// turnAway answers everybody who comes within a pause that there is nobody to
// decide, so that they do not wait for a disk that stays full. It is false when
// the coordinator is closing.
func (r *realm) turnAway(pause time.Duration, cause error) bool {
	over := time.After(pause)
	for {
		select {
		case o := <-r.c.ops:
			if !o.taken.CompareAndSwap(false, true) {
				continue
			}
			if o.err = fmt.Errorf("%w: %w", ErrUnavailable, cause); o.leaving {
				o.err = o.after(nil)
			}
			close(o.done)
		case <-over:
			return true
		case <-r.c.stop:
			return false
		}
	}
}

func (r *realm) leadUnlessStopped() error {
	ctx, cancel := context.WithCancel(r.c.life)
	defer cancel()
	quit := make(chan struct{})
	defer close(quit)
	go func() {
		select {
		case <-r.c.stop:
			cancel()
		case <-quit:
		}
	}()
	return r.lead(ctx)
}

// shutDown answers whoever still waits, and saves the state for a quick start.
func (r *realm) shutDown() {
	for r.flight != nil {
		r.land(<-r.landed)
	}
	if r.saving != nil {
		r.saved(<-r.saving)
	}
	if r.last > r.covered.at && !r.lost {
		if _, err := r.save(r.c.life, r.view, r.last, r.epoch); err != nil {
			r.c.log.Warn("no snapshot at the end", "error", err)
		}
	}
	for w := range r.watchers {
		r.dropWatcher(w, ErrUnavailable)
	}
	for _, set := range r.followers {
		for f := range set {
			f.fail(ErrUnavailable)
		}
	}
	for {
		select {
		case o := <-r.c.ops:
			if o.taken.CompareAndSwap(false, true) {
				o.err = ErrUnavailable
				close(o.done)
			}
		default:
			return
		}
	}
}
