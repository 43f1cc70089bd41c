// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package admission

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/tfweaver/tfweaver/internal/core/escrow"
	"github.com/tfweaver/tfweaver/internal/core/graph"
	"github.com/tfweaver/tfweaver/internal/core/lock"
	"github.com/tfweaver/tfweaver/internal/core/mode"
	"pgregory.net/rapid"
)

// TestRandomHistories runs long random histories over a larger graph than the
// explorer can afford, with many sessions and transactions, next to a replica
// that folds the journal.
func TestRandomHistories(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		h := &history{state: New(), replica: New(), over: map[escrow.Key]bool{}}
		t.Repeat(map[string]func(*rapid.T){
			"open":     h.open,
			"close":    h.close,
			"lapse":    h.lapse,
			"declare":  h.declare,
			"submit":   h.submit,
			"start":    h.start,
			"complete": h.complete,
			"withdraw": h.withdraw,
			"resolve":  h.resolve,
			"observe":  h.observe,
			"reserve":  h.reserve,
			"call":     h.call,
			"measure":  h.measure,
			"settle":   h.settle,
			"bury":     h.bury,
			"pass":     h.pass,
			"":         h.check,
		})
	})
}

type history struct {
	state, replica *State
	sessions, txs  int
	// last is the last command that changed something, and over are the buckets
	// above their limit.
	last Command
	over map[escrow.Key]bool
}

// apply runs a command that may well be refused.
func (h *history) apply(t *rapid.T, c Command) {
	before := h.state.Index()
	events, err := h.state.Apply(c)
	if err != nil && (len(events) > 0 || h.state.Index() != before) {
		t.Fatalf("%T failed and changed something: %v", c, err)
	}
	if len(events) == 0 {
		return
	}
	h.last = c
	data, err := EncodeRecord(Record{Index: h.state.Index(), Now: h.state.Now(), Command: c, Events: events})
	if err != nil {
		t.Fatal(err)
	}
	r, err := DecodeRecord(data)
	if err != nil {
		t.Fatal(err)
	}
	if err := h.replica.Fold(r.Index, r.Now, r.Events); err != nil {
		t.Fatal(err)
	}
}

func (h *history) at() Stamp { return Stamp{Now: h.state.Now() + 1} }

// anySession is mostly one that lives.
func (h *history) anySession(t *rapid.T) SessionID {
	living := slices.DeleteFunc(h.state.Sessions(), func(x Session) bool { return x.EndedAt != 0 })
	if len(living) > 0 && rapid.IntRange(0, 4).Draw(t, "living") > 0 {
		return living[rapid.IntRange(0, len(living)-1).Draw(t, "session")].ID
	}
	return SessionID(fmt.Sprintf("s%d", rapid.IntRange(0, h.sessions).Draw(t, "session")))
}

// anyTx is mostly one that is not over.
func (h *history) anyTx(t *rapid.T) Tx {
	open := slices.DeleteFunc(h.state.Transactions(), func(x Tx) bool { return x.Status.Final() })
	if len(open) > 0 && rapid.IntRange(0, 4).Draw(t, "open") > 0 {
		return open[rapid.IntRange(0, len(open)-1).Draw(t, "tx")]
	}
	id := TxID(fmt.Sprintf("t%d", rapid.IntRange(0, h.txs).Draw(t, "tx")))
	tx, _ := h.state.Tx(id)
	return tx
}

func anyPath(t *rapid.T) graph.NodeID {
	shapes := []string{"r/g%d", "r/g%d/v%d", "r/g%d/v%d/s%d", "r/g%d/v%d/~slot", "r/g%d/v%d/~life", "r/g%d/~name/vm/n%d"}
	shape := rapid.SampledFrom(shapes).Draw(t, "shape")
	n := rapid.IntRange(0, 2)
	count := 0
	for i := range shape {
		if shape[i] == '%' {
			count++
		}
	}
	args := make([]any, count)
	for i := range args {
		args[i] = n.Draw(t, "n")
	}
	return graph.NodeID(fmt.Sprintf(shape, args...))
}

func (h *history) open(t *rapid.T) {
	h.sessions++
	c := openCommand(h.at(), SessionID(fmt.Sprintf("s%d", h.sessions)))
	c.Session.Policy = rapid.SampledFrom([]Policy{Queue, Queue, Reject}).Draw(t, "policy")
	c.Session.Lease = int64(rapid.IntRange(20, 200).Draw(t, "lease"))
	h.apply(t, c)
}

func (h *history) close(t *rapid.T) {
	h.apply(t, CloseSession{Stamp: h.at(), Session: h.anySession(t)})
}

func (h *history) lapse(t *rapid.T) {
	at := h.state.Now() + int64(rapid.IntRange(0, 20).Draw(t, "pause"))
	h.apply(t, Renew{Stamp: Stamp{Now: at}, Session: h.anySession(t)})
	h.apply(t, Expire{Stamp: Stamp{Now: max(at, h.state.Now())}})
}

func (h *history) declare(t *rapid.T) {
	paths := rapid.SliceOfN(rapid.Custom(anyPath), 0, 3).Draw(t, "paths")
	var list []string
	for _, p := range paths {
		list = append(list, string(p))
	}
	h.apply(t, declareOf(h.at(), h.anySession(t), list))
}

func (h *history) submit(t *rapid.T) {
	h.txs++
	self := anyPath(t)
	q := Request{
		Session: h.anySession(t), Key: uint64(h.txs), Address: string(self), Type: "sim_thing", Self: self,
		Action: rapid.SampledFrom([]Action{Create, Update, Delete, Read}).Draw(t, "action"), Nodes: place(self),
		Effects: anyEffects(t), Advisory: rapid.IntRange(0, 9).Draw(t, "advisory") == 0, Lands: 5, Timeout: 20,
	}
	m := mode.X
	if q.Action == Read {
		m = mode.S
	}
	wants := []lock.Want{{Node: self, Mode: m, Relation: lock.Same, Rule: "sim/self"}}
	for _, p := range rapid.SliceOfN(rapid.Custom(anyPath), 0, 2).Draw(t, "others") {
		q.Nodes = append(q.Nodes, place(p)...)
		wants = append(wants, lock.Want{Node: p, Mode: mode.S, Relation: lock.Reference, Rule: "sim/ref"})
		q.Edges = append(q.Edges, graph.Edge{From: self, To: p, Kind: graph.References})
	}
	for _, k := range rapid.SliceOfN(rapid.SampledFrom([]GuardKind{Present, Unreferenced, Version, SameLife}), 0, 2).Draw(t, "guards") {
		n := q.Nodes[rapid.IntRange(0, len(q.Nodes)-1).Draw(t, "node")].ID
		g := Guard{Kind: k, Node: n}
		if known, ok := h.state.Graph().Get(n); ok {
			g.Value = map[GuardKind]uint64{Version: known.Version, SameLife: known.Incarnation}[k]
		}
		q.Guards = append(q.Guards, g)
	}
	q.Locks = lock.Close(wants, newPlacement(h.state.graph, q.Nodes).parent)
	h.apply(t, Submit{Stamp: h.at(), ID: TxID(fmt.Sprintf("t%d", h.txs)), Request: q})
}

func (h *history) start(t *rapid.T) {
	tx := h.anyTx(t)
	h.apply(t, Start{Stamp: h.at(), Tx: tx.ID, Token: tx.Token})
}

func (h *history) complete(t *rapid.T) {
	tx := h.anyTx(t)
	c := Complete{
		Stamp: h.at(), Tx: tx.ID, Token: tx.Token, Exists: rapid.Bool().Draw(t, "exists"),
		Result: rapid.SampledFrom([]Result{Succeeded, Succeeded, Errored, Lost, NotSent}).Draw(t, "result"),
	}
	if n, ok := h.state.graph.Get(tx.Self); ok && n.Kind == graph.Name {
		id := n.Parent + graph.NodeID(fmt.Sprintf("/vm%d", rapid.IntRange(0, 3).Draw(t, "id")))
		c.Bind = graph.Decl{ID: id, Parent: n.Parent}
	}
	h.apply(t, c)
}

func (h *history) withdraw(t *rapid.T) {
	h.apply(t, Withdraw{Stamp: h.at(), Tx: h.anyTx(t).ID})
}

func (h *history) resolve(t *rapid.T) {
	h.apply(t, Resolve{Stamp: h.at(), Tx: h.anyTx(t).ID, Actor: "x", Reason: "y", Exists: rapid.Bool().Draw(t, "exists")})
}

func (h *history) observe(t *rapid.T) {
	p := anyPath(t)
	decls := place(p)
	c := Observe{
		Stamp: h.at(), Session: h.anySession(t), Began: h.began(t),
		Nodes: decls[:len(decls)-1], Objects: []Observation{{Decl: decls[len(decls)-1], Exists: rapid.Bool().Draw(t, "exists")}},
	}
	h.apply(t, c)
}

// check holds the machine to what can be said of any state.
func (h *history) check(t *rapid.T) {
	if h.replica.Hash() != h.state.Hash() {
		t.Fatal("the replica differs")
	}
	if !h.state.Settled() {
		t.Fatal("a wake-up was lost")
	}
	if h.state.drawn = nil; !h.state.Settled() {
		t.Fatal("a claim was not drawn anew")
	}
	if cached := h.state.ahead; cached != nil {
		h.state.ahead = nil
		spare := cmpopts.IgnoreFields(lock.Demand{}, "block", "room")
		if d := cmp.Diff(h.state.demand(), cached, cmp.AllowUnexported(line{}, lock.Demand{}), spare); d != "" {
			t.Fatalf("what the waiters ask for was not counted anew:\n%s", d)
		}
	}
	for _, n := range h.state.locks.Nodes() {
		holders := h.state.locks.Holders(n)
		for i, a := range holders {
			for _, b := range holders[i+1:] {
				if !mode.Compatible(a.Mode, b.Mode) {
					t.Fatalf("%s is held by %v and %v", n, a, b)
				}
			}
			if tx, _ := h.state.Tx(TxID(a.Owner)); !tx.Status.Holds() {
				t.Fatalf("%s is held by %s, which is %q", n, a.Owner, tx.Status)
			}
		}
	}
	for _, tx := range h.state.Transactions() {
		_, holds := h.state.locks.Held(lock.Owner(tx.ID))
		if holds != (tx.Status.Holds() && tx.Passed == nil) {
			t.Fatalf("%s is %s and holds: %t", tx.ID, tx.Status, holds)
		}
		if tx.Status == Queued && len(h.state.Blockers(tx.ID)) == 0 {
			t.Fatalf("%s waits for nothing", tx.ID)
		}
	}
	h.checkClaims(t)
	h.checkCapacity(t)
	back, err := reread(h.state)
	if err != nil || back.Hash() != h.state.Hash() {
		t.Fatalf("the snapshot differs: %v", err)
	}
	for _, k := range h.state.escrow.Buckets() {
		if d := cmp.Diff(h.state.escrow.Level(k), back.escrow.Level(k)); d != "" {
			t.Fatalf("%s was not measured anew:\n%s", k, d)
		}
	}
}
