// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package admission

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"github.com/tfweaver/tfweaver/internal/core/graph"
	"github.com/tfweaver/tfweaver/internal/core/lock"
	"github.com/tfweaver/tfweaver/internal/core/mode"
)

// The invariants of the protocol are checked over all histories by package
// explore, and told as stories in testdata. These tests pin down single ones
// where a story would hide the point.

// TestAncestorsMustBeIntended (I3): a plan that does not announce its locks on
// every node above is refused, naming the node.
func TestAncestorsMustBeIntended(t *testing.T) {
	t.Parallel()
	m := newMachine(t, "a")
	whole := write("a", Create, "r/g/v/s")
	for i := range whole.Locks[:len(whole.Locks)-1] {
		q := whole
		q.Locks = append(append(lock.Plan(nil), whole.Locks[:i]...), whole.Locks[i+1:]...)
		_, err := m.Apply(Submit{Stamp: m.tick(), ID: "t", Request: q})
		if !errors.Is(err, ErrMalformed) {
			t.Errorf("without %s: %v", whole.Locks[i].Node, err)
		}
		q.Locks = append(lock.Plan(nil), whole.Locks...)
		q.Locks[i].Mode = mode.IS
		if _, err := m.Apply(Submit{Stamp: m.tick(), ID: "t", Request: q}); !errors.Is(err, ErrMalformed) {
			t.Errorf("IS is no intention of X on %s: %v", whole.Locks[i].Node, err)
		}
	}
	if m.graph.Len() != 0 {
		t.Error("a refused request placed nodes")
	}
	m.submit("t", whole)
	m.want("t", Admitted)
}

// TestEveryNamedNodeIsPlaced: whatever a request names has a place, or the
// error names it.
func TestEveryNamedNodeIsPlaced(t *testing.T) {
	t.Parallel()
	base := write("a", Create, "r/g/v")
	ghost := graph.NodeID("r/g/ghost")
	for name, change := range map[string]func(*Request){
		"self":   func(q *Request) { q.Self = ghost },
		"lock":   func(q *Request) { q.Locks = append(q.Locks, lock.Want{Node: "r/z", Mode: mode.X}) },
		"guard":  func(q *Request) { q.Guards = []Guard{{Kind: Present, Node: ghost}} },
		"edge":   func(q *Request) { q.Edges = []graph.Edge{{From: q.Self, To: ghost}} },
		"add":    func(q *Request) { q.AddEdges = []graph.Edge{{From: ghost, To: q.Self}} },
		"drop":   func(q *Request) { q.DropEdges = []graph.Edge{{From: q.Self, To: ghost}} },
		"parent": func(q *Request) { q.Nodes = q.Nodes[1:] },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newMachine(t, "a")
			q := base
			q.Nodes = append([]graph.Decl(nil), base.Nodes...)
			q.Locks = append(lock.Plan(nil), base.Locks...)
			change(&q)
			before := m.Hash()
			if _, err := m.Apply(Submit{Stamp: m.tick(), ID: "t", Request: q}); !errors.Is(err, ErrUndeclared) {
				t.Errorf("got %v", err)
			}
			if m.Hash() != before {
				t.Error("a refused request changed the state")
			}
		})
	}
}

func TestEdgesComeFromTheObject(t *testing.T) {
	t.Parallel()
	m := newMachine(t, "a")
	for range 2 { // before the other one is placed, and after that
		q := write("a", Create, "r/g/v")
		q.Edges = []graph.Edge{{From: "r/g", To: "r/g/v"}}
		if _, err := m.Apply(Submit{Stamp: m.tick(), ID: "t", Request: q}); !errors.Is(err, ErrMalformed) {
			t.Errorf("got %v", err)
		}
		m.must(declareOf(m.tick(), "a", []string{"r/g/v"}))
	}
}

// TestMisplacedIsRefused: containment is a tree, and nothing moves in it.
func TestMisplacedIsRefused(t *testing.T) {
	t.Parallel()
	m := newMachine(t, "a")
	m.submit("t1", write("a", Create, "r/g/v"))
	q := write("a", Create, "r/h/w")
	q.Nodes = append(q.Nodes, graph.Decl{ID: "r/g/v", Parent: "r/h", Kind: graph.Resource})
	for name, c := range map[string]Command{
		"submit":  Submit{Stamp: m.tick(), ID: "t2", Request: q},
		"declare": Declare{Stamp: m.tick(), Session: "a", Creates: q.Nodes},
		"observe": Observe{Stamp: m.tick(), Session: "a", Nodes: q.Nodes},
	} {
		if _, err := m.Apply(c); !errors.Is(err, ErrMisplaced) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestFencing (I10, I15): tokens grow strictly, and a call is started and ended
// under its own token only. Who was superseded holds an older one.
func TestFencing(t *testing.T) {
	t.Parallel()
	m := newMachine(t, "a", "b")
	first := m.submit("t1", write("a", Update, "r/g/v"))
	m.submit("t2", write("b", Update, "r/g/v"))
	m.must(Withdraw{Stamp: m.tick(), Tx: "t1"})
	second, _ := m.Tx("t2")
	if second.Status != Admitted || second.Token <= first.Token {
		t.Fatalf("t2 is %s with token %d after %d", second.Status, second.Token, first.Token)
	}
	for _, token := range []uint64{0, first.Token, second.Token + 1} {
		if _, err := m.Apply(Start{Stamp: m.tick(), Tx: "t2", Token: token}); !errors.Is(err, ErrToken) {
			t.Errorf("start under %d: %v", token, err)
		}
	}
	if _, err := m.Apply(Start{Stamp: m.tick(), Tx: "t1", Token: first.Token}); !errors.Is(err, ErrStatus) {
		t.Errorf("start of a withdrawn transaction: %v", err)
	}
	m.must(Start{Stamp: m.tick(), Tx: "t2", Token: second.Token})
	c := Complete{Stamp: m.tick(), Tx: "t2", Token: first.Token, Result: Succeeded}
	if _, err := m.Apply(c); !errors.Is(err, ErrToken) {
		t.Errorf("complete under an old token: %v", err)
	}
	// The tokens go on from a snapshot.
	back, err := reread(m.State)
	if err != nil {
		t.Fatal(err)
	}
	m.State = back
	if third := m.submit("t3", write("a", Update, "r/g/w")); third.Token <= second.Token {
		t.Errorf("token %d after %d", third.Token, second.Token)
	}
}

// TestTimeMonotone (I28): the past is refused, by every command, untouched.
func TestTimeMonotone(t *testing.T) {
	t.Parallel()
	m := newMachine(t, "a")
	m.submit("t", write("a", Update, "r/g/v"))
	past := Stamp{Now: m.Now() - 1}
	before := m.Hash()
	for _, c := range []Command{
		openCommand(past, "x"),
		Renew{Stamp: past, Session: "a"},
		CloseSession{Stamp: past, Session: "a"},
		AddIntent{Stamp: past, Intent: Intent{ID: "i", Session: "a"}},
		Declare{Stamp: past, Session: "a"},
		Submit{Stamp: past, ID: "u", Request: write("a", Update, "r/g/v")},
		Start{Stamp: past, Tx: "t", Token: 1},
		Complete{Stamp: past, Tx: "t", Token: 1, Result: NotSent},
		Withdraw{Stamp: past, Tx: "t"},
		Observe{Stamp: past, Session: "a"},
		Expire{Stamp: past},
		Resolve{Stamp: past, Tx: "t"},
	} {
		if _, err := m.Apply(c); !errors.Is(err, ErrTimeBack) {
			t.Errorf("%T: %v", c, err)
		}
	}
	if m.Hash() != before {
		t.Error("the state changed")
	}
	if err := m.Fold(m.Index()+1, m.Now()-1, nil); !errors.Is(err, ErrTimeBack) {
		t.Errorf("fold: %v", err)
	}
}

// TestSnapshotKeepsKeys (I27): a request that is repeated after a restart gets
// the answer it had.
func TestSnapshotKeepsKeys(t *testing.T) {
	t.Parallel()
	m := newMachine(t, "a")
	q := write("a", Update, "r/g/v")
	q.Key = 7
	m.submit("t1", q)
	m.finish("t1", Succeeded, true)
	back, err := reread(m.State)
	if err != nil {
		t.Fatal(err)
	}
	for name, s := range map[string]*State{"live": m.State, "restarted": back} {
		events, err := s.Apply(Submit{Stamp: m.tick(), ID: "t2", Request: q})
		if err != nil || len(events) > 0 {
			t.Errorf("%s: %v %v", name, events, err)
		}
		if tx, ok := s.TxByKey("a", 7); !ok || tx.ID != "t1" || tx.Status != Operational {
			t.Errorf("%s: key 7 finds %q %q", name, tx.ID, tx.Status)
		}
		other := q
		other.Address = "sim.other"
		if _, err := s.Apply(Submit{Stamp: m.tick(), ID: "t2", Request: other}); !errors.Is(err, ErrKeyReused) {
			t.Errorf("%s: another request under the key: %v", name, err)
		}
	}
}

// TestBlockersAreBounded: a crowd does not blow up a report.
func TestBlockersAreBounded(t *testing.T) {
	t.Parallel()
	m := newMachine(t, "a", "b")
	for i := range 3 * MaxBlockers {
		q := write("a", Read, "r/g/v")
		q.Locks = lock.Close([]lock.Want{{Node: "r/g/v", Mode: mode.S, Relation: lock.Same}}, newPlacement(m.graph, q.Nodes).parent)
		m.submit(TxID(fmt.Sprintf("t%d", i)), q)
	}
	tx := m.submit("w", write("b", Update, "r/g/v"))
	if len(tx.Blockers) != MaxBlockers || len(m.Blockers("w")) != MaxBlockers {
		t.Errorf("%d and %d blockers", len(tx.Blockers), len(m.Blockers("w")))
	}
	if position, ahead := m.Place("w"); position != 1 || ahead != 3*MaxBlockers {
		t.Errorf("place %d, %d ahead", position, ahead)
	}
}

// TestForecastIsPure: a forecast agrees with what Submit then decides, knows
// what its own plan makes, and changes nothing.
func TestForecastIsPure(t *testing.T) {
	t.Parallel()
	m := newMachine(t, "a", "b")
	m.submit("held", write("a", Update, "r/g/v"))
	m.submit("gone", write("a", Delete, "r/g/old"))
	m.finish("gone", Succeeded, false)
	child := write("b", Create, "r/g/old/child")
	child.Guards = []Guard{{Kind: Present, Node: "r/g/old"}}
	before, err := json.Marshal(m.State)
	if err != nil {
		t.Fatal(err)
	}
	requests := []Request{
		write("b", Update, "r/g/v"), write("b", Create, "r/g/old"), child, write("nobody", Update, "r/g/v"),
	}
	got := m.Forecast(requests)
	if alone := m.Forecast([]Request{child})[0]; alone.Decision != Rejected || !alone.Blockers[0].Replan {
		t.Errorf("a child of what is gone: %+v", alone)
	}
	after, _ := json.Marshal(m.State)
	if string(before) != string(after) {
		t.Error("a forecast changed the state")
	}
	for i, want := range []Status{Queued, Admitted, Admitted, ""} {
		if got[i].Decision != want {
			t.Errorf("request %d: %+v, want %q", i, got[i], want)
		}
	}
	if !errors.Is(got[3].Err, ErrNoSession) {
		t.Errorf("an unknown session: %v", got[3].Err)
	}
	if tx := m.submit("b1", requests[0]); tx.Status != got[0].Decision || len(tx.Blockers) != len(got[0].Blockers) {
		t.Errorf("submit decided %s with %d blockers", tx.Status, len(tx.Blockers))
	}
}

// TestNextDeadline is the earliest lease of those who live.
func TestNextDeadline(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	if _, ok := m.NextDeadline(); ok {
		t.Error("a deadline of nobody")
	}
	for i, lease := range []int64{500, 100, 300} {
		c := openCommand(Stamp{Now: 10}, SessionID(fmt.Sprint(i)))
		c.Session.Lease = lease
		m.must(c)
	}
	for _, want := range []int64{110, 310, 510} {
		at, ok := m.NextDeadline()
		if !ok || at != want {
			t.Errorf("deadline %d, want %d", at, want)
		}
		m.must(Expire{Stamp: Stamp{Now: at}})
	}
	if _, ok := m.NextDeadline(); ok {
		t.Error("a deadline of the dead")
	}
}

// TestBindNeverFails: the call has happened, so whatever id it reports, the
// transaction ends and its locks are free.
func TestBindNeverFails(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		bind      graph.Decl
		lands     graph.NodeID
		collision bool
	}{
		"no kind and no type":  {graph.Decl{ID: "r/g/vm-1", Parent: "r/g"}, "r/g/vm-1", false},
		"an unknown parent":    {graph.Decl{ID: "r/g/vm-1", Parent: "r/lost"}, "r/g/vm-1", false},
		"no parent":            {graph.Decl{ID: "r/g/vm-1"}, "r/g/vm-1", false},
		"its own id":           {graph.Decl{ID: "~pending/a/vm"}, "~pending/a/vm", false},
		"a node without facts": {graph.Decl{ID: "r/g/other", Parent: "r/g"}, "r/g/other", false},
		"somebody's object":    {graph.Decl{ID: "r/g/taken", Parent: "r/g"}, "~pending/a/vm", true},
		"another place":        {graph.Decl{ID: "r/g/other", Parent: "r"}, "~pending/a/vm", true},
		"a senseless kind":     {graph.Decl{ID: "r/g/vm-1", Parent: "r/g", Kind: graph.Facet}, "~pending/a/vm", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newMachine(t, "a", "b")
			m.submit("b1", write("b", Create, "r/g/taken"))
			m.finish("b1", Succeeded, true)
			m.must(declareOf(m.tick(), "b", []string{"r/g/other"}))
			tx := m.submit("t", write("a", Create, "~pending/a/vm"))
			m.must(Start{Stamp: m.tick(), Tx: "t", Token: tx.Token})
			m.must(Complete{Stamp: m.tick(), Tx: "t", Token: tx.Token, Result: Succeeded, Bind: c.bind})
			m.want("t", Operational)
			n, _ := m.graph.Get(c.lands)
			if n.Lifecycle != graph.Operational || n.Owner != "state of a" || (n.Collides != "") != c.collision {
				t.Errorf("%+v", n)
			}
			if len(m.locks.Nodes()) != 0 {
				t.Error("locks are left")
			}
		})
	}
}

// TestIntents: a transaction acts for the intent it names, else for the
// session's first, and for nobody else's.
func TestIntents(t *testing.T) {
	t.Parallel()
	m := newMachine(t, "a", "b")
	more := Intent{ID: "more", Session: "a", Objective: "another", Links: []string{"ticket 7"}}
	m.must(AddIntent{Stamp: m.tick(), Intent: more})
	for _, c := range []Command{
		AddIntent{Stamp: m.tick(), Intent: more},
		OpenSession{Stamp: m.tick(), Session: Session{ID: "c", Lease: 1}, Intent: more},
	} {
		if _, err := m.Apply(c); !errors.Is(err, ErrDuplicate) {
			t.Errorf("%T of a known intent: %v", c, err)
		}
	}
	if _, err := m.Apply(AddIntent{Stamp: m.tick(), Intent: Intent{Session: "a"}}); !errors.Is(err, ErrMalformed) {
		t.Errorf("an intent without id: %v", err)
	}
	if _, err := m.Apply(AddIntent{Stamp: m.tick(), Intent: Intent{ID: "x", Session: "x"}}); !errors.Is(err, ErrNoSession) {
		t.Errorf("an intent of nobody: %v", err)
	}
	q := write("a", Update, "r/g/v")
	if tx := m.submit("t1", q); tx.Intent != "intent of a" {
		t.Errorf("acts for %q", tx.Intent)
	}
	q.Intent = "more"
	if tx := m.submit("t2", q); tx.Intent != "more" {
		t.Errorf("acts for %q", tx.Intent)
	}
	q.Intent = "intent of b"
	if _, err := m.Apply(Submit{Stamp: m.tick(), ID: "t3", Request: q}); !errors.Is(err, ErrMalformed) {
		t.Errorf("acts for another session: %v", err)
	}
	if list := m.Intents("a"); len(list) != 2 || list[1].Objective != "another" {
		t.Errorf("%v", list)
	}
	if first, ok := m.FirstIntent("b"); !ok || first.ID != "intent of b" {
		t.Errorf("%v", first)
	}
	if _, ok := m.FirstIntent("x"); ok {
		t.Error("an intent of nobody")
	}
}

// TestSessionsMakeSense: what is wrong with a session is said when it opens.
func TestSessionsMakeSense(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	for name, change := range map[string]func(*OpenSession){
		"no id":     func(c *OpenSession) { c.Session.ID = "" },
		"no intent": func(c *OpenSession) { c.Intent.ID = "" },
		"no lease":  func(c *OpenSession) { c.Session.Lease = 0 },
		"policy":    func(c *OpenSession) { c.Session.Policy = "shrug" },
	} {
		c := openCommand(m.tick(), "a")
		change(&c)
		if _, err := m.Apply(c); !errors.Is(err, ErrMalformed) {
			t.Errorf("%s: %v", name, err)
		}
	}
	c := openCommand(Stamp{Now: 5}, "a")
	c.Session.EndedAt, c.Session.Ended, c.Session.Labels = 3, "closed", map[string]string{"team": "net"}
	m.must(c)
	c.Session.Labels["team"] = "changed by the caller"
	x, _ := m.Session("a")
	if x.EndedAt != 0 || x.Ended != "" || x.Labels["team"] != "net" || x.Policy != Queue || x.Expires != 5+c.Session.Lease {
		t.Errorf("%+v", x)
	}
	x.Labels["team"] = "changed by the reader"
	if list := m.Sessions(); len(list) != 1 || list[0].Labels["team"] != "net" {
		t.Errorf("%+v", list)
	}
	m.must(Renew{Stamp: Stamp{Now: 9}, Session: "a", Phase: "applying"})
	m.must(Renew{Stamp: Stamp{Now: 10}, Session: "a"})
	if x, _ := m.Session("a"); x.Phase != "applying" || x.Expires != 10+c.Session.Lease {
		t.Errorf("%+v", x)
	}
}

// TestAccessorsGiveCopies: who reads the state cannot change it.
func TestAccessorsGiveCopies(t *testing.T) {
	t.Parallel()
	m := newMachine(t, "a", "b")
	m.must(declareOf(m.tick(), "a", []string{"r/g/v", "r/g/w"}))
	m.submit("t1", write("a", Update, "r/g/v"))
	m.submit("t2", write("b", Update, "r/g/v"))
	before := m.Hash()
	m.Declares("a")[0] = "spoilt"
	m.Waiting()[0] = "spoilt"
	m.Blockers("t2")[0] = Blocker{}
	m.Transactions()[0] = Tx{}
	m.Graph().Children("r/g")[0] = "spoilt"
	if m.Hash() != before || m.Declares("a")[0] != "r/g/v" || m.Waiting()[0] != "t2" {
		t.Error("the state was changed")
	}
	if m.Declares("x") != nil || m.Blockers("x") != nil {
		t.Error("answers about what is not known")
	}
	if _, ok := m.TxByKey("a", 99); ok {
		t.Error("a transaction under an unused key")
	}
	if position, ahead := m.Place("t1"); position != 0 || ahead != 0 {
		t.Errorf("a holder has place %d, %d ahead", position, ahead)
	}
	if list := m.Transactions(); len(list) != 2 || list[0].ID != "t1" || list[1].ID != "t2" {
		t.Errorf("%v", list)
	}
}

// TestFingerprint forgets the clock and keeps what decides.
func TestFingerprint(t *testing.T) {
	t.Parallel()
	slow, fast := newMachine(t, "a", "b"), newMachine(t, "a", "b")
	for i := range 5 {
		slow.must(Renew{Stamp: Stamp{Now: slow.Now() + int64(i)}, Session: "a"})
	}
	for _, m := range []*machine{slow, fast} {
		m.submit("t1", write("a", Update, "r/g/v"))
		m.submit("t2", write("b", Update, "r/g/v"))
	}
	if slow.Fingerprint() != fast.Fingerprint() || slow.Hash() == fast.Hash() {
		t.Error("the fingerprint depends on the clock")
	}
	for _, m := range []*machine{slow, fast} {
		tx, _ := m.Tx("t1")
		m.must(Start{Stamp: m.tick(), Tx: "t1", Token: tx.Token})
	}
	if slow.Fingerprint(1) == slow.Fingerprint(slow.Index()) || slow.Fingerprint(1) != fast.Fingerprint(2) {
		t.Error("of when a read began, the fingerprint keeps the order and no more")
	}
	fast.must(Withdraw{Stamp: fast.tick(), Tx: "t2"})
	if slow.Fingerprint() == fast.Fingerprint() {
		t.Error("the fingerprint does not depend on the queue")
	}
}

// TestLeaseEndsOnTime: a session lives until the last tick before the end of its
// lease, and not at that end.
func TestLeaseEndsOnTime(t *testing.T) {
	t.Parallel()
	for _, left := range []int64{1, 0} {
		m := newMachine(t)
		c := openCommand(m.tick(), "a")
		c.Session.Lease = 10
		m.must(c)
		m.submit("t", write("a", Update, "r/g/v"))
		x, _ := m.Session("a")
		tx, _ := m.Tx("t")
		_, err := m.Apply(Start{Stamp: Stamp{Now: x.Expires - left}, Tx: "t", Token: tx.Token})
		if left > 0 && err != nil || left == 0 && !errors.Is(err, ErrNoSession) {
			t.Errorf("%d before the end: %v", left, err)
		}
	}
}
