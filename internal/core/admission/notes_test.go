// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package admission

import (
	"errors"
	"fmt"
	"testing"

	"github.com/tfweaver/tfweaver/internal/core/escrow"
	"github.com/tfweaver/tfweaver/internal/core/graph"
	"github.com/tfweaver/tfweaver/internal/core/lock"
	"github.com/tfweaver/tfweaver/internal/core/mode"
)

// TestReasonsNameTheirRule: a reason has the rule and class of what was wanted; of
// a mere intention, those of what is held; and of a promise, those of the guard on
// that very object.
func TestReasonsNameTheirRule(t *testing.T) {
	t.Parallel()
	m := newMachine(t, "a", "b")
	whole := write("a", Update, "r/g")
	whole.Locks[1] = lock.Want{Node: "r/g", Mode: mode.X, Relation: lock.Same, Rule: "theirs", Class: "in_flight"}
	m.submit("h", whole)
	q := write("b", Update, "r/g/v")
	q.Locks[2].Rule, q.Locks[2].Class = "mine", "throttle"
	if b := m.submit("below", q).Blockers; len(b) != 1 || b[0].Rule != "theirs" || b[0].Class != "in_flight" || b[0].Node != "r/g" {
		t.Errorf("an intention: %+v", b)
	}
	q = write("b", Update, "r/g")
	q.Locks[1].Rule, q.Locks[1].Class = "mine", "throttle"
	b := m.submit("same", q).Blockers
	if len(b) != 2 || b[0].Rule != "mine" || b[0].Class != "throttle" || !b[1].Ahead || b[1].Rule != "mine" {
		t.Errorf("a want: %+v", b)
	}
	m.must(declareOf(m.tick(), "a", []string{"r/x", "r/y"}))
	q = write("b", Update, "r/z")
	q.Nodes = append(q.Nodes, append(place("r/x"), place("r/y")...)...)
	q.Guards = []Guard{{Kind: Version, Node: "r/y", Rule: "none"}, {Kind: Present, Node: "r/x", Rule: "x"}, {Kind: Present, Node: "r/y", Rule: "y"}}
	b = m.submit("waits", q).Blockers
	if len(b) != 2 || b[0].Rule != "x" || b[1].Rule != "y" || b[0].Node != "r/x" {
		t.Errorf("promises: %+v", b)
	}
}

// TestFactsAreAsOldAsTheyAre: what a guard found is as old as the last change or
// the last look at it, whichever is later; and it is nobody's who only saw it.
func TestFactsAreAsOldAsTheyAre(t *testing.T) {
	t.Parallel()
	m := newMachine(t, "a", "b")
	m.submit("t", write("a", Create, "r/g/v"))
	m.finish("t", Succeeded, true)
	ask := func() Blocker {
		t.Helper()
		q := write("b", Update, "r/g/v")
		q.Guards = []Guard{{Kind: SameLife, Node: "r/g/v", Value: 9}}
		id := TxID(fmt.Sprint("u", m.Index()))
		if m.submit(id, q); len(m.Blockers(id)) != 1 {
			t.Fatalf("%+v", m.Blockers(id))
		}
		return m.Blockers(id)[0]
	}
	made := m.Now()
	if b := ask(); b.FactAt != made || b.HolderSession != "a" || b.HolderIntent != "intent of a" {
		t.Errorf("made at %d: %+v", made, b)
	}
	decls := place("r/g/v")
	see := func(digest string) int64 {
		m.must(Observe{
			Stamp: m.tick(), Session: "b", Began: m.Index(), Nodes: decls[:2],
			Objects: []Observation{{Decl: decls[2], Exists: true, Digest: digest}},
		})
		return m.Now()
	}
	same := see("")
	if b := ask(); b.FactAt != same || b.HolderSession != "a" {
		t.Errorf("seen at %d: %+v", same, b)
	}
	other := see("changed outside")
	if b := ask(); b.FactAt != other || b.HolderSession != "" || b.HolderIntent != "" {
		t.Errorf("changed outside at %d: %+v", other, b)
	}
}

// TestWaitsAreNoted: of a wait that is over, a few foreign reasons stay on record
// and no other; and a call that is admitted has no reason to wait, and the claim
// that it is under.
func TestWaitsAreNoted(t *testing.T) {
	t.Parallel()
	m := newMachine(t, "a", "b")
	wants := Request{Session: "a", Action: Update, Self: "r/w", Nodes: place("r/w")}
	list := []lock.Want{}
	for i := range maxDelayed + 2 {
		path := graph.NodeID(fmt.Sprintf("r/n%d", i))
		session := SessionID("b")
		if i == 0 {
			session = "a"
		}
		m.submit(TxID(fmt.Sprint("h", i)), write(session, Update, path))
		wants.Nodes = append(wants.Nodes, place(path)...)
		list = append(list, lock.Want{Node: path, Mode: mode.X, Relation: lock.Same, Rule: "all"})
	}
	wants.Locks = lock.Close(list, newPlacement(m.graph, wants.Nodes).parent)
	m.submit("t", wants)
	for i := range maxDelayed + 2 {
		m.must(Withdraw{Stamp: m.tick(), Tx: TxID(fmt.Sprint("h", i))})
	}
	tx, _ := m.Tx("t")
	if tx.Status != Admitted || len(tx.Blockers) != 0 || len(tx.Delayed) != maxDelayed {
		t.Errorf("%s, %d reasons, delayed by %v", tx.Status, len(tx.Blockers), tx.Delayed)
	}
	for i, b := range tx.Delayed {
		if b.Holder != TxID(fmt.Sprint("h", i+1)) || b.HolderSession != "b" {
			t.Errorf("delayed by %+v", b)
		}
	}
	m.submit("p", replaceOf("b", "r/v", nil))
	m.submit("d", planned(write("b", Delete, "r/v"), "p", "delete r/v"))
	if tx, _ := m.Tx("d"); tx.Claim != "d" || tx.Rank != 0 {
		t.Errorf("admitted under %q, rank %d", tx.Claim, tx.Rank)
	}
}

// TestForecastsOfWaits: who would wait for a promise is told so, and who waits for
// locks is not; only what a plan creates counts as made by it.
func TestForecastsOfWaits(t *testing.T) {
	t.Parallel()
	m := newMachine(t, "a", "b")
	m.must(declareOf(m.tick(), "a", []string{"r/g/net"}))
	m.submit("h", write("a", Update, "r/g/v"))
	child := write("b", Create, "r/g/vm")
	child.Nodes, child.Guards = append(child.Nodes, place("r/g/net")...), []Guard{{Kind: Present, Node: "r/g/net"}}
	for name, c := range map[string]struct {
		with    []Request
		status  Status
		dormant bool
	}{
		"alone":       {nil, Queued, true},
		"with create": {[]Request{write("b", Create, "r/g/net")}, Admitted, false},
		"with update": {[]Request{write("b", Update, "r/g/net")}, Queued, true},
		"with delete": {[]Request{write("b", Delete, "r/g/net")}, Queued, true},
	} {
		if got := m.Forecast(append([]Request{child}, c.with...))[0]; got.Decision != c.status || got.Dormant != c.dormant {
			t.Errorf("%s: %+v", name, got)
		}
	}
	if got := m.Forecast([]Request{write("b", Update, "r/g/v")})[0]; got.Decision != Queued || got.Dormant {
		t.Errorf("behind a lock: %+v", got)
	}
	// Inside a claim, behind a call of the same run.
	m.submit("p", replaceOf("b", "r/g/w", nil))
	m.submit("d", planned(write("b", Delete, "r/g/w"), "p", "delete r/g/w"))
	if got := m.Forecast([]Request{planned(write("b", Create, "r/g/w"), "p", "create r/g/w")})[0]; got.Decision != Queued || got.Dormant {
		t.Errorf("inside a claim: %+v", got)
	}
}

// TestWholePlansAreClaims: also those that lock nothing.
func TestWholePlansAreClaims(t *testing.T) {
	t.Parallel()
	m := newMachine(t, "a")
	m.submit("p", Request{
		Session: "a", Action: Reserve, Whole: true, Nodes: place("r/g/v"), Calls: []Planned{{ID: "c", Self: "r/g/v", Action: Read}},
	})
	if claims := m.Claims(); len(claims) != 1 || claims[0].ID != "p" || len(claims[0].Calls) != 1 {
		t.Errorf("%+v", claims)
	}
}

// TestRingsOfCalls: calls that wait for each other are no plan, whether or not they
// have to do with capacity.
func TestRingsOfCalls(t *testing.T) {
	t.Parallel()
	for n := 1; n <= 4; n++ {
		q := Request{Session: "a", Action: Reserve, Nodes: place("r/g/v")}
		for i := range n {
			q.Calls = append(q.Calls, Planned{
				ID: CallID(fmt.Sprint(i)), Self: "r/g/v", Action: Update, After: []CallID{CallID(fmt.Sprint((i + 1) % n))},
			})
		}
		m := newMachine(t, "a")
		if _, err := m.Apply(Submit{Stamp: m.tick(), ID: "p", Request: q}); !errors.Is(err, ErrMalformed) {
			t.Errorf("a ring of %d: %v", n, err)
		}
	}
}

// TestSharersAreThoseThatHold: what a plan that is over leaves reserved is held by
// the calls that still run, each of what it uses.
func TestSharersAreThoseThatHold(t *testing.T) {
	t.Parallel()
	m := newMachine(t, "a", "b")
	m.must(Measure{Stamp: m.tick(), Session: "a", Began: m.Index(), Readings: []Reading{{Bucket: "q", Limit: escrow.At(3), Use: escrow.At(0)}}})
	call := func(id CallID, k escrow.Key) Planned {
		path := graph.NodeID("r/" + id)
		return Planned{ID: id, Self: path, Action: Create, Locks: write("a", Create, path).Locks, Effects: escrow.Effects{{Bucket: k, Amount: 2}}}
	}
	m.submit("p", Request{Session: "a", Action: Reserve, Nodes: append(place("r/c1"), place("r/c2")...), Calls: []Planned{call("c1", "other"), call("c2", "q")}})
	for _, id := range []CallID{"c1", "c2"} {
		q := planned(write("a", Create, graph.NodeID("r/"+id)), "p", id)
		q.Effects = call(id, map[CallID]escrow.Key{"c1": "other", "c2": "q"}[id]).Effects
		m.submit(TxID(id), q)
		m.must(Start{Stamp: m.tick(), Tx: TxID(id), Token: m.txToken(TxID(id))})
	}
	m.must(Withdraw{Stamp: m.tick(), Tx: "p"})
	q := write("b", Create, "r/d")
	q.Effects = escrow.Effects{{Bucket: "q", Amount: 2}}
	m.submit("d", q)
	if b := m.Blockers("d"); len(b) != 1 || b[0].Holder != "c2" || b[0].Capacity.Theirs != 2 {
		t.Errorf("%+v", b)
	}
	// And the plan is forgotten in its turn only when they are over.
	for _, id := range []TxID{"c1", "c2"} {
		if m.retired.Len() != 0 && id == "c1" {
			t.Errorf("kept: %v", m.retired.Items())
		}
		m.must(Complete{Stamp: m.tick(), Tx: id, Token: m.txToken(id), Result: Succeeded})
	}
	if got := fmt.Sprint(m.retired.Items()); got != "[c1 p c2 d]" {
		t.Errorf("in the order of their ends: %s", got)
	}
}
