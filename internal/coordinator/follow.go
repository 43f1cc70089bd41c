// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package coordinator

import (
	"context"
	"fmt"
	"reflect"

	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/core/conflict"
)

// Decision is where a transaction stands.
type Decision struct {
	Tx     admission.TxID
	Status admission.Status
	// Token is set once the transaction was admitted.
	Token uint64
	// Report explains a wait or a refusal; nil otherwise.
	Report *conflict.Report
	// Index is that of the last record known when the decision was read.
	Index uint64
	Cause string
	// Foreign is true when another session is in the way.
	Foreign bool
	// Passed is set when the call goes on without its locks; Report then says
	// what is in the way.
	Passed *admission.Pass
	// Reservation is true for the reservation of a plan, which is no call.
	Reservation bool

	blockers        []admission.Blocker
	position, ahead int
}

// Waits says whether the decision is not the answer to a Submit yet.
func (d Decision) Waits() bool { return d.Status == admission.Queued }

// same says whether two decisions tell a waiting caller the same.
func (d Decision) same(o Decision) bool {
	return d.Status == o.Status && d.position == o.position && d.ahead == o.ahead && reflect.DeepEqual(d.blockers, o.blockers)
}

// decision reads where a transaction stands.
func (r *realm) decision(id admission.TxID) (Decision, error) {
	tx, ok := r.view.Tx(id)
	if !ok {
		return Decision{}, fmt.Errorf("transaction %s: %w", id, admission.ErrNoTx)
	}
	d := Decision{
		Tx: id, Status: tx.Status, Token: tx.Token, Index: r.view.Index(), Cause: tx.Cause,
		Passed: tx.Passed, Reservation: tx.Action == admission.Reserve,
	}
	if explained(&tx) {
		d.blockers = r.view.Blockers(id)
		d.position, d.ahead = r.view.Place(id)
		report := conflict.BuildAt(r.view, id, tx.Session, r.now())
		d.Report = &report
	}
	for _, b := range d.blockers {
		d.Foreign = d.Foreign || b.HolderSession != "" && b.HolderSession != tx.Session
	}
	return d, nil
}

// explained says whether something is or was in the way of a transaction that
// its caller has to hear of.
func explained(tx *admission.Tx) bool {
	switch tx.Status {
	case admission.Queued, admission.Rejected, admission.Stale:
		return true
	default:
		return tx.Passed != nil && len(tx.Blockers) > 0
	}
}

// now is the clock's time, not before that of the last record.
func (r *realm) now() int64 { return max(r.state.Now(), r.c.now().UnixNano()) }

// Follower receives the decisions about one transaction, the newest only when
// it does not keep up. It must be closed.
type Follower struct {
	c    *Coordinator
	tx   admission.TxID
	news chan Decision
	last Decision // as last handed over; owned by the realm
	// why is set before failed is closed.
	why    error
	failed chan struct{}
}

// follow registers a follower, which knows the decision now.
func (r *realm) follow(now Decision) *Follower {
	f := &Follower{c: r.c, tx: now.Tx, news: make(chan Decision, 1), last: now, failed: make(chan struct{})}
	set := r.followers[f.tx]
	if set == nil {
		set = map[*Follower]struct{}{}
		r.followers[f.tx] = set
	}
	set[f] = struct{}{}
	return f
}

// Next waits until the decision changes, or the transaction's place in the
// queue does.
func (f *Follower) Next(ctx context.Context) (Decision, error) {
	select {
	case d := <-f.news:
		return d, nil
	case <-f.failed:
		return Decision{}, f.why
	case <-ctx.Done():
		return Decision{}, ctx.Err()
	}
}

// Close ends the follower; the transaction goes on.
func (f *Follower) Close() {
	f.c.tell(func(r *realm) { r.unfollow(f) })
}

func (r *realm) unfollow(f *Follower) {
	set := r.followers[f.tx]
	delete(set, f)
	if len(set) == 0 {
		delete(r.followers, f.tx)
	}
}

func (f *Follower) fail(err error) {
	f.why = err
	close(f.failed)
}

// put replaces what the follower has not yet taken.
func (f *Follower) put(d Decision) {
	select {
	case <-f.news:
	default:
	}
	f.last = d
	f.news <- d // the realm alone sends, so there is room now
}

// inform tells those who follow a transaction when they would want to know.
func (r *realm) inform(tx admission.TxID) {
	set := r.followers[tx]
	if len(set) == 0 {
		return
	}
	d, err := r.decision(tx)
	for f := range set {
		switch {
		case err != nil:
			r.unfollow(f)
			f.fail(err)
		case !d.same(f.last):
			f.put(d)
		}
	}
}

// refollow brings every follower up to date, also after a change of leader.
func (r *realm) refollow() {
	r.moved = false
	for tx := range r.followers {
		r.inform(tx)
	}
}
