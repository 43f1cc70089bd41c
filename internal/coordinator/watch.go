// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package coordinator

import (
	"context"
	"encoding/json"
	"time"

	"github.com/tfweaver/tfweaver/internal/core/admission"
)

// Event is one decision with the index of its record.
type Event struct {
	Index uint64
	Event admission.Event
}

// MarshalJSON writes the event as it stands in the journal: tagged with the
// name of its type.
func (e Event) MarshalJSON() ([]byte, error) {
	line, err := admission.EncodeRecord(admission.Record{
		Index: e.Index, Command: admission.Expire{}, Events: []admission.Event{e.Event},
	})
	if err != nil {
		return nil, err
	}
	var record struct {
		Events []json.RawMessage `json:"events"`
	}
	if err := json.Unmarshal(line, &record); err != nil {
		return nil, err
	}
	return record.Events[0], nil
}

// Watcher receives events from the moment it was made. It must be closed.
type Watcher struct {
	c      *Coordinator
	events chan Event
	// why is set before events is closed.
	why error
}

// Watch returns a watcher. It never holds up the coordinator: when it falls
// behind by more than Config.WatchBuffer events it ends with ErrSlow.
func (c *Coordinator) Watch(ctx context.Context) (*Watcher, error) {
	w := &Watcher{c: c, events: make(chan Event, c.config.WatchBuffer)}
	err := c.ask(ctx, func(*admission.State) error {
		c.realm.watchers[w] = struct{}{}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return w, nil
}

// Next waits for the next event. It returns ErrSlow when events were missed,
// and ErrUnavailable when the coordinator is closing.
func (w *Watcher) Next(ctx context.Context) (Event, error) {
	select {
	case e, ok := <-w.events:
		if !ok {
			return Event{}, w.why
		}
		return e, nil
	case <-ctx.Done():
		return Event{}, ctx.Err()
	}
}

// Close ends the watcher.
func (w *Watcher) Close() {
	w.c.tell(func(r *realm) { r.dropWatcher(w, context.Canceled) })
}

// tell runs f on the realm some time, unless it ends before.
func (c *Coordinator) tell(f func(*realm)) {
	o := &op{ctx: c.life, done: make(chan struct{}), leaving: true, after: func(*admission.State) error {
		f(&c.realm)
		return nil
	}}
	select {
	case c.ops <- o:
	case <-c.stopped:
	}
}

func (r *realm) dropWatcher(w *Watcher, why error) {
	if _, ok := r.watchers[w]; ok {
		delete(r.watchers, w)
		w.why = why
		close(w.events)
	}
}

// publish hands news to watchers, and to those who follow a transaction.
func (r *realm) publish(news []Event) {
	if len(news) == 0 {
		return
	}
	for w := range r.watchers {
		for _, e := range news {
			select {
			case w.events <- e:
				continue
			default:
			}
			r.dropWatcher(w, ErrSlow)
			break
		}
	}
	sessions := false
	touched := map[admission.TxID]struct{}{}
	for _, e := range news {
		switch e := e.Event.(type) {
		case admission.TxQueued:
			touched[e.Tx] = struct{}{}
		case admission.TxAdmitted:
			touched[e.Tx] = struct{}{}
		case admission.TxRejected:
			touched[e.Tx] = struct{}{}
		case admission.TxStaled:
			touched[e.Tx] = struct{}{}
		case admission.TxEnded:
			touched[e.Tx] = struct{}{}
		case admission.TxPassed:
			touched[e.Tx] = struct{}{}
		case admission.TxUncertain, admission.SenderDied, admission.ClaimAdmitted, admission.ClaimEnded, admission.Measured:
			r.moved = true // it changes what waits are for
		case admission.SessionOpened, admission.SessionEnded:
			sessions = true
		}
	}
	if sessions {
		r.count()
		r.peers.rebuild(r.view)
	}
	r.moved = r.moved || len(touched) > 0
	for tx := range touched {
		r.inform(tx)
	}
}

// count keeps the number of live sessions, and their shortest lease.
func (r *realm) count() {
	n := 0
	r.lease = 0
	for _, s := range r.view.Sessions() {
		if s.EndedAt != 0 {
			continue
		}
		if n++; n == 1 || time.Duration(s.Lease) < r.lease {
			r.lease = time.Duration(s.Lease)
		}
	}
	r.c.live.Store(int64(n))
}
