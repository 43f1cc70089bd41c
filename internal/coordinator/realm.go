// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package coordinator

import (
	"time"

	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/journal"
)

// realm is the part of a coordinator that one goroutine owns: the state, and
// who wants to hear of it.
type realm struct {
	c *Coordinator
	// state is what was decided. It may be ahead of what is on record, by what
	// flies and by next; nobody hears of that before it has landed.
	state *admission.State
	// view is the state as it is on record, from which answers are read. It
	// holds while a batch that has landed is being answered, and while quiet.
	view  *admission.State
	epoch journal.Epoch
	last  journal.Index // of the records that are known to be in the journal
	// flight is the batch that is being written, nil for none; next is being
	// decided meanwhile, and landed tells what became of the flight.
	flight *batch
	next   batch
	landed chan landing
	// lost is set while the state may hold what the journal does not and never
	// will.
	lost bool

	followers map[admission.TxID]map[*Follower]struct{}
	moved     bool             // the queue moved since the followers were refreshed
	refresh   <-chan time.Time // nil while nobody would hear anything new
	watchers  map[*Watcher]struct{}
	peers     peers

	// lease is the shortest of the live sessions', 0 for none.
	lease time.Duration
	// due is when the timer should wake the coordinator, in nanoseconds since
	// the Unix epoch; 0 before it was set.
	due int64

	covered covered
	// saving receives how far a snapshot goes once it was saved; nil while none
	// is being saved.
	saving chan covered
}

func newRealm(c *Coordinator) realm {
	return realm{
		c:         c,
		landed:    make(chan landing, 1),
		followers: map[admission.TxID]map[*Follower]struct{}{},
		watchers:  map[*Watcher]struct{}{},
	}
}

// run owns the state until the coordinator is closed.
func (r *realm) run() {
	defer close(r.c.stopped)
	deadline := time.NewTimer(time.Hour)
	defer deadline.Stop()
	r.arm(deadline)
	for {
		if r.refresh == nil && r.moved && len(r.followers) > 0 {
			r.refresh = time.After(r.c.config.Refresh)
		}
		select {
		case <-r.c.stop:
			r.shutDown()
			return
		case o := <-r.room():
			r.pardon() // before a command is judged by a lease
			r.take(o)
		case l := <-r.landed:
			r.land(l)
			r.arm(deadline)
		case <-quiet(r, deadline.C):
			r.pardon()
			r.expire()
			r.arm(deadline)
		case <-quiet(r, r.refresh):
			r.refresh = nil
			r.refollow()
		case s := <-r.saving:
			r.saved(s)
		}
	}
}

// room is where commands come from, as long as there is room for them in the
// next batch.
func (r *realm) room() <-chan *op {
	if r.lost || r.next.full() {
		return nil
	}
	return r.c.ops
}

// quiet is a channel that waits while something is being written: land looks
// after it then.
func quiet[T any](r *realm, ch <-chan T) <-chan T {
	if r.flight != nil {
		return nil
	}
	return ch
}
