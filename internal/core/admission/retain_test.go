// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package admission

import (
	"fmt"
	"testing"

	"github.com/tfweaver/tfweaver/internal/core/graph"
)

// TestRetention: final transactions stay explainable for a while, then only
// answer for their keys, and go with their session. Sessions go when nothing
// mentions them any more. All of that is part of the replayed state.
func TestRetention(t *testing.T) {
	t.Parallel()
	m := newMachine(t, "a", "b")
	replica := m.Clone()
	step := func(c Command) {
		if events := m.must(c); len(events) > 0 {
			if err := replica.Fold(m.Index(), m.Now(), events); err != nil {
				t.Fatal(err)
			}
		}
	}
	q := write("a", Update, "r/g/v")
	for i := range Retained + 10 {
		q.Key = uint64(i + 1)
		id := TxID(fmt.Sprintf("t%d", i))
		step(Submit{Stamp: m.tick(), ID: id, Request: q})
		step(Withdraw{Stamp: m.tick(), Tx: id})
	}
	if tx, ok := m.Tx("t0"); !ok || len(tx.Locks) != 0 || tx.Status != Withdrawn {
		t.Errorf("the oldest is kept whole: %t %d locks", ok, len(tx.Locks))
	}
	if tx, _ := m.Tx("t20"); len(tx.Locks) == 0 {
		t.Error("a recent one has lost its plan")
	}
	q.Key = 1
	step(Submit{Stamp: m.tick(), ID: "again", Request: q})
	if _, ok := m.Tx("again"); ok {
		t.Error("the key of a slim transaction was forgotten")
	}
	step(CloseSession{Stamp: m.tick(), Session: "a"})
	if _, ok := m.Tx("t0"); ok {
		t.Error("a slim transaction outlives its session")
	}
	if _, ok := m.Session("a"); !ok {
		t.Error("the session is forgotten while transactions name it")
	}
	q.Session = "b"
	for i := range Retained {
		q.Key = uint64(i + 1)
		id := TxID(fmt.Sprintf("u%d", i))
		step(Submit{Stamp: m.tick(), ID: id, Request: q})
		step(Withdraw{Stamp: m.tick(), Tx: id})
	}
	if _, ok := m.Session("a"); ok {
		t.Error("the session is kept though nothing mentions it")
	}
	if i, ok := m.Intent("intent of a"); ok {
		t.Errorf("its intent is kept: %v", i)
	}
	if replica.Hash() != m.Hash() {
		t.Error("the replica differs")
	}
	if back, err := reread(m.State); err != nil || back.Hash() != m.Hash() {
		t.Errorf("the snapshot differs: %v", err)
	}
}

// TestHistoryKeepsSessions: who changed an object stays known for as long as
// the object's history names them.
func TestHistoryKeepsSessions(t *testing.T) {
	t.Parallel()
	m := newMachine(t, "a", "b")
	m.submit("t", write("a", Create, "r/g/v"))
	m.finish("t", Succeeded, true)
	m.must(CloseSession{Stamp: m.tick(), Session: "a"})
	q := write("b", Update, "r/g/v")
	for i := range Retained + graph.HistoryLimit {
		if x, ok := m.Session("a"); i < graph.HistoryLimit-1 && (!ok || x.Actor != "actor of a") {
			t.Fatalf("session a is forgotten after %d changes", i)
		}
		id := TxID(fmt.Sprintf("u%d", i))
		m.submit(id, q)
		m.finish(id, Succeeded, true)
	}
	if _, ok := m.Session("a"); ok {
		t.Error("session a is kept though no history names it")
	}
	n, _ := m.graph.Get("r/g/v")
	if len(n.History) != graph.HistoryLimit {
		t.Errorf("history of %d", len(n.History))
	}
}

// TestPendingNodesGo: nodes that stood for objects of a session are removed
// with it, the objects themselves are not.
func TestPendingNodesGo(t *testing.T) {
	t.Parallel()
	m := newMachine(t, "a", "b")
	m.submit("t", write("a", Create, "~pending/a/vm.web"))
	tx, _ := m.Tx("t")
	m.must(Start{Stamp: m.tick(), Tx: "t", Token: tx.Token})
	bind := graph.Decl{ID: "r/g/vm-1", Parent: "r/g", Kind: graph.Resource}
	m.must(Complete{Stamp: m.tick(), Tx: "t", Token: tx.Token, Result: Succeeded, Bind: bind})
	m.submit("promise", write("a", Create, "~pending/a/vm.never"))
	m.must(CloseSession{Stamp: m.tick(), Session: "a"})
	q := write("b", Update, "r/g/vm-1")
	for i := range Retained + graph.HistoryLimit {
		id := TxID(fmt.Sprintf("u%d", i))
		m.submit(id, q)
		m.finish(id, Succeeded, true)
	}
	for _, id := range []graph.NodeID{"~pending/a/vm.web", "~pending/a/vm.never"} {
		if m.graph.Has(id) {
			t.Errorf("%s is kept", id)
		}
	}
	if !m.graph.Has("r/g/vm-1") {
		t.Error("the object is gone")
	}
}
