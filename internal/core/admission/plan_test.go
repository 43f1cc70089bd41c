// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package admission

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tfweaver/tfweaver/internal/core/escrow"
	"github.com/tfweaver/tfweaver/internal/core/graph"
)

// bury lets so many transactions end that everything before is forgotten that
// may be.
func (m *machine) bury(session SessionID) {
	m.t.Helper()
	for i := range Retained + 1 {
		id := TxID(fmt.Sprintf("later %d of %d", i, m.Index()))
		m.submit(id, write(session, Update, "r/elsewhere"))
		m.must(Withdraw{Stamp: m.tick(), Tx: id})
	}
}

// TestReservationOutlivesItsEnd: a reservation is known, and its name taken, as
// long as a call of it may still have an effect on capacity, over restarts and
// however much happens in between. Then it is forgotten like everybody else.
func TestReservationOutlivesItsEnd(t *testing.T) {
	t.Parallel()
	m := newMachine(t, "a", "b")
	m.must(Measure{Stamp: m.tick(), Session: "b", Began: m.Index(), Readings: []Reading{{Bucket: "q", Limit: escrow.At(4), Use: escrow.At(1)}}})
	e := escrow.Collect(escrow.Effect{Bucket: "q", Amount: 3})
	m.submit("p", replaceOf("a", "r/g/v", e))
	del := planned(write("a", Delete, "r/g/v"), "p", "delete r/g/v")
	m.submit("d", del)
	m.finish("d", Succeeded, false)
	create := planned(write("a", Create, "r/g/v"), "p", "create r/g/v")
	create.Effects = e
	m.submit("c", create)
	tx, _ := m.Tx("c")
	m.must(Start{Stamp: m.tick(), Tx: "c", Token: tx.Token})
	m.must(CloseSession{Stamp: m.tick(), Session: "a"})
	m.want("p", Withdrawn)
	m.want("c", Uncertain)
	m.bury("b")
	back, err := reread(m.State)
	if err != nil {
		t.Fatal(err)
	}
	if back.Hash() != m.Hash() {
		t.Fatal("the snapshot differs")
	}
	m.State = back
	if _, ok := m.Session("a"); !ok {
		t.Error("the session is forgotten while a call of it may be running")
	}
	if level := m.Capacity().Level("q"); level.Plus != 3 {
		t.Errorf("in flight: %+v", level)
	}
	again := replaceOf("b", "r/g/w", e)
	if _, err := m.Apply(Submit{Stamp: m.tick(), ID: "p", Request: again}); err == nil {
		t.Error("the name of the reservation was given to another one")
	}
	more := write("b", Create, "r/g/w")
	more.Effects = e
	m.submit("m", more)
	if list := m.Blockers("m"); len(list) != 1 || list[0].Holder != "c" || list[0].HolderSession != "a" {
		t.Errorf("the wait is put down to %+v", list)
	}
	m.must(Resolve{Stamp: m.tick(), Tx: "c", Actor: "ann", Reason: "looked"})
	m.want("m", Admitted)
	m.bury("b")
	if _, ok := m.Tx("p"); ok {
		t.Error("the reservation is kept for ever")
	}
	if n := m.ongoing.Len() + m.within.Len() + m.plans.Len() + m.claims.Len(); n != 0 {
		t.Errorf("%d things are left of the plan", n)
	}
}

// TestBucketsGoWithTheirObject: the counts of an object are forgotten with it,
// whether anybody has ever read them or not, and those of its neighbour stay.
func TestBucketsGoWithTheirObject(t *testing.T) {
	t.Parallel()
	m := newMachine(t, "a")
	for _, path := range []string{"r/g/net", "r/g/net2"} {
		q := write("a", Create, "r/g/vm of "+graph.NodeID(path[4:]))
		q.Effects = escrow.Collect(escrow.Effect{Bucket: BucketOf(graph.NodeID(path), "addresses"), Amount: 1})
		m.submit(TxID("t "+path), q)
		m.finish(TxID("t "+path), Succeeded, true)
	}
	m.submit("d", write("a", Delete, "r/g/net"))
	m.finish("d", Succeeded, false)
	if d := cmp.Diff([]escrow.Key{BucketOf("r/g/net2", "addresses")}, m.Capacity().Buckets()); d != "" {
		t.Error(d)
	}
}
