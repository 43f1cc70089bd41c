// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package admission

import (
	"fmt"
	"testing"

	"github.com/tfweaver/tfweaver/internal/core/escrow"
	"github.com/tfweaver/tfweaver/internal/core/graph"
	"github.com/tfweaver/tfweaver/internal/core/lock"
	"github.com/tfweaver/tfweaver/internal/core/mode"
)

// machine drives a State in tests that are about one thing.
type machine struct {
	t *testing.T
	*State
}

func newMachine(t *testing.T, sessions ...SessionID) *machine {
	t.Helper()
	m := &machine{t: t, State: New()}
	for _, id := range sessions {
		m.must(openCommand(m.tick(), id))
	}
	return m
}

func openCommand(at Stamp, id SessionID) OpenSession {
	return OpenSession{
		Stamp:   at,
		Session: Session{ID: id, Actor: "actor of " + string(id), Lease: 1 << 40, Origin: "state of " + string(id)},
		Intent:  Intent{ID: IntentID("intent of " + string(id)), Objective: "test"},
	}
}

func (m *machine) tick() Stamp { return Stamp{Now: m.Now() + 1} }

func (m *machine) must(c Command) []Event {
	m.t.Helper()
	events, err := m.Apply(c)
	if err != nil {
		m.t.Fatalf("%T: %v", c, err)
	}
	return events
}

// write is a request for an exclusive lock on a path.
func write(session SessionID, action Action, path graph.NodeID) Request {
	nodes := place(path)
	up := newPlacement(graph.New(), nodes)
	return Request{
		Session: session, Action: action, Address: "sim." + string(path), Type: "sim_thing", Self: path, Nodes: nodes,
		Locks: lock.Close([]lock.Want{{Node: path, Mode: mode.X, Relation: lock.Same, Rule: "sim/write"}}, up.parent),
	}
}

func (m *machine) submit(id TxID, q Request) Tx {
	m.t.Helper()
	m.must(Submit{Stamp: m.tick(), ID: id, Request: q})
	tx, _ := m.Tx(id)
	return tx
}

// finish takes an admitted transaction through its call.
func (m *machine) finish(id TxID, r Result, exists bool) {
	m.t.Helper()
	tx, _ := m.Tx(id)
	m.must(Start{Stamp: m.tick(), Tx: id, Token: tx.Token})
	m.must(Complete{Stamp: m.tick(), Tx: id, Token: tx.Token, Result: r, Exists: exists})
}

func (m *machine) status(id TxID) Status {
	tx, _ := m.Tx(id)
	return tx.Status
}

func (m *machine) want(id TxID, s Status) {
	m.t.Helper()
	if got := m.status(id); got != s {
		m.t.Errorf("%s is %q, want %q", id, got, s)
	}
}

func pathOf(i int) graph.NodeID { return graph.NodeID(fmt.Sprintf("r/g%03d/x%05d", i%100, i)) }

// replaceOf is a reservation for one replace, the old object first, whose new
// object has the effects.
func replaceOf(session SessionID, path graph.NodeID, e escrow.Effects) Request {
	del, create := write(session, Delete, path), write(session, Create, path)
	name := string(path)
	var frees []escrow.Effect
	for _, x := range e {
		frees = append(frees, escrow.Effect{Bucket: x.Bucket, Amount: -x.Amount})
	}
	return Request{
		Session: session, Action: Reserve, Nodes: del.Nodes,
		Calls: []Planned{
			{
				ID: CallID("create " + name), Self: path, Action: Create, Locks: create.Locks,
				Effects: e, After: []CallID{CallID("delete " + name)}, Group: name,
			},
			{
				ID: CallID("delete " + name), Self: path, Action: Delete, Locks: del.Locks,
				Effects: escrow.Collect(frees...), Group: name,
			},
		},
	}
}

// planned is a request that a plan foresaw.
func planned(q Request, plan TxID, call CallID) Request {
	q.Plan, q.Call = plan, call
	return q
}
