// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package admission

import (
	"maps"
	"slices"
	"testing"

	"github.com/tfweaver/tfweaver/internal/core/graph"
)

// comebacks are the ways back from a status that was final: each leaves a
// transaction of a, on a path of its own, waiting or ready to be sent.
var comebacks = map[string]func(m *machine, id TxID){
	"stale, submitted again": func(m *machine, id TxID) {
		q := m.staled(id)
		q.Guards = nil
		m.submit(id, q)
	},
	"stale for long, submitted again": func(m *machine, id TxID) {
		q := m.staled(id)
		m.must(Renew{Stamp: Stamp{Now: m.Now() + StaleGrace + 1}, Session: "b"})
		q.Guards = nil
		m.submit(id, q)
	},
	"stale twice, submitted again": func(m *machine, id TxID) {
		q := m.staled(id)
		m.submit(id, q)
		m.want(id, Stale)
		q.Guards = nil
		m.submit(id, q)
	},
	"stale, passed": func(m *machine, id TxID) {
		m.staled(id)
		m.override(id)
	},
	"refused, passed": func(m *machine, id TxID) {
		q := write("a", Update, graph.NodeID(id))
		q.Nodes, q.Guards = append(q.Nodes, place("r/gone")...), []Guard{{Kind: Present, Node: "r/gone"}}
		m.submit(id, q)
		m.want(id, Rejected)
		m.override(id)
	},
}

// staled lets a transaction become stale, whose path is its id.
func (m *machine) staled(id TxID) Request {
	m.t.Helper()
	before := "before " + id
	m.submit(before, write("b", Update, graph.NodeID(id)))
	m.finish(before, Succeeded, true)
	q := write("a", Update, graph.NodeID(id))
	q.Guards = []Guard{{Kind: Version, Node: graph.NodeID(id)}}
	m.submit(id, q)
	m.want(id, Stale)
	return q
}

func (m *machine) override(id TxID) {
	m.t.Helper()
	m.must(Pass{Stamp: m.tick(), Tx: id, Mode: "override", By: "ann", Reason: "known better"})
}

// TestNothingOpenIsForgotten: however a transaction came back from a status that
// was final, and wherever it is now, it is known in full for as long as it is not
// final again, whatever else ends meanwhile; also when its session is over, if
// its outcome is still to come (I18).
func TestNothingOpenIsForgotten(t *testing.T) {
	t.Parallel()
	m := newMachine(t, "a", "b")
	m.submit("gone", write("b", Delete, "r/gone"))
	m.finish("gone", Succeeded, false)
	open := map[TxID]Status{}
	for _, name := range slices.Sorted(maps.Keys(comebacks)) {
		for _, s := range []Status{Admitted, Actioning, Uncertain} {
			id := TxID("r/" + name + " and " + string(s))
			comebacks[name](m, id)
			open[id] = s
			m.bring(id, s)
		}
	}
	m.bury("b")
	m.stillOpen(open)
	m.must(CloseSession{Stamp: m.tick(), Session: "a"})
	for id, s := range open {
		if s == Admitted {
			delete(open, id) // it was not sent, and is over
		} else {
			open[id] = Uncertain
		}
	}
	m.bury("b")
	m.stillOpen(open)
}

// TestWaitersAreNotForgotten: neither is one that waits again where it waited, or
// in a later place.
func TestWaitersAreNotForgotten(t *testing.T) {
	t.Parallel()
	m := newMachine(t, "a", "b")
	open := map[TxID]Status{}
	for i, after := range []int64{1, StaleGrace, StaleGrace + 1} {
		id := TxID([]string{"r/at once", "r/in time", "r/late"}[i])
		q := m.staled(id)
		old, _ := m.Tx(id)
		m.submit("held "+id, write("b", Update, q.Self))
		q.Guards = nil
		m.must(Submit{Stamp: Stamp{Now: max(old.EndedAt+after, m.Now())}, ID: id, Request: q})
		open[id] = Queued
	}
	m.bury("b")
	m.stillOpen(open)
}

// bring takes an admitted transaction to a status.
func (m *machine) bring(id TxID, s Status) {
	m.t.Helper()
	if s != Admitted {
		m.start(id)
	}
	if s == Uncertain {
		m.must(Complete{Stamp: m.tick(), Tx: id, Token: m.txToken(id), Result: Lost})
	}
	m.want(id, s)
}

// stillOpen checks that transactions are known in full, also behind a snapshot,
// and that nothing else but what is final counts as over.
func (m *machine) stillOpen(open map[TxID]Status) {
	m.t.Helper()
	back, err := reread(m.State)
	if err != nil || back.Hash() != m.Hash() {
		m.t.Errorf("the snapshot differs: %v", err)
	}
	for i, s := range []*State{m.State, back} {
		where := []string{"state", "snapshot"}[i]
		for _, id := range slices.Sorted(maps.Keys(open)) {
			if tx, ok := s.Tx(id); !ok || tx.Status != open[id] || len(tx.Locks) == 0 || len(tx.Nodes) == 0 {
				m.t.Errorf("%s: %s is known %t, %q with %d locks, want %q", where, id, ok, tx.Status, len(tx.Locks), open[id])
			}
		}
		for i, id := range s.retired.Items() {
			if tx, ok := s.Tx(id); !ok || !tx.Status.Final() || slices.Contains(s.retired.Items()[:i], id) {
				m.t.Errorf("%s: %s counts as over: known %t, %q", where, id, ok, tx.Status)
			}
		}
	}
}
