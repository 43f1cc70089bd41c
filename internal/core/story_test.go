// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package core_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/core/escrow"
	"github.com/tfweaver/tfweaver/internal/core/graph"
	"github.com/tfweaver/tfweaver/internal/core/lock"
	"github.com/tfweaver/tfweaver/internal/core/mode"
)

// story tells the machine a history that follows from a seed and from what the
// machine answers: sessions come and go, plan, call, lose answers and read.
type story struct {
	r             *rand.Rand
	s             *admission.State
	now           int64
	sessions, txs int
	requests      []admission.Submit // for repeats and resubmissions
}

const second = int64(1e9)

func newStory(seed uint64) *story {
	return &story{r: rand.New(rand.NewPCG(seed, 1)), s: admission.New(), now: second}
}

// chance is true once in n times.
func (t *story) chance(n int) bool { return t.r.IntN(n) == 0 }

func pick[T any](t *story, list ...T) T { return list[t.r.IntN(len(list))] }

func (t *story) stamp() admission.Stamp {
	t.now += pick(t, 1, 1, 1, second, second, 2*second, 4*second)
	return admission.Stamp{Now: t.now}
}

// next is the next command of the story.
func (t *story) next() admission.Command {
	if t.sessions < 2 {
		return t.open()
	}
	moves := []struct {
		weight int
		move   func() admission.Command
	}{
		{3, t.open},
		{2, t.renew},
		{1, t.leave},
		{1, t.lapse},
		{2, t.declare},
		{1, t.explain},
		{16, t.submit},
		{22, t.start},
		{22, t.complete},
		{3, t.withdraw},
		{3, t.resolve},
		{6, t.observe},
		{7, t.reserve},
		{22, t.call},
		{6, t.measure},
		{6, t.settle},
		{1, t.bury},
		{3, t.pass},
		{4, t.again},
		{2, t.spoil},
	}
	total := 0
	for _, m := range moves {
		total += m.weight
	}
	n := t.r.IntN(total)
	for _, m := range moves {
		if n -= m.weight; n < 0 {
			return m.move()
		}
	}
	panic("unreachable")
}

func (t *story) open() admission.Command {
	t.sessions++
	id := fmt.Sprintf("s%d", t.sessions)
	if t.chance(20) {
		id = "s1" // in use
	}
	return admission.OpenSession{
		Stamp: t.stamp(),
		Session: admission.Session{
			ID: admission.SessionID(id), Actor: "actor " + id, Tool: "tool", Origin: pick(t, "state a", "state b", "state of "+id),
			Policy: pick(t, "", "", "", admission.Reject), Lease: pick[int64](t, 40, 300, 3000) * second,
			RunURL: pick(t, "", "run of "+id), Labels: map[string]string{"n": id},
		},
		Intent: admission.Intent{ID: admission.IntentID("i" + id), Objective: "because of " + id, Kind: "mixed"},
	}
}

func (t *story) session() admission.SessionID {
	var living []admission.SessionID
	for _, x := range t.s.Sessions() {
		if x.EndedAt == 0 {
			living = append(living, x.ID)
		}
	}
	if len(living) == 0 || t.chance(25) {
		return admission.SessionID(fmt.Sprintf("s%d", t.r.IntN(t.sessions+2)))
	}
	return pick(t, living...)
}

func (t *story) renew() admission.Command {
	return admission.Renew{Stamp: t.stamp(), Session: t.session(), Phase: pick(t, "", "planning", "applying")}
}

func (t *story) leave() admission.Command {
	return admission.CloseSession{Stamp: t.stamp(), Session: t.session()}
}

func (t *story) bury() admission.Command {
	id := t.session()
	for _, tx := range t.s.Transactions() {
		if tx.Status == admission.Uncertain {
			id = tx.Session
		}
	}
	return admission.Deceased{Stamp: t.stamp(), Session: id}
}

func (t *story) lapse() admission.Command {
	if at, ok := t.s.NextDeadline(); ok && t.chance(2) {
		t.now = max(t.now, at-int64(t.r.IntN(2)))
	}
	return admission.Expire{Stamp: admission.Stamp{Now: t.now}}
}

func (t *story) explain() admission.Command {
	id := t.session()
	return admission.AddIntent{Stamp: t.stamp(), Intent: admission.Intent{
		ID: admission.IntentID(fmt.Sprintf("i%s-%d", id, t.r.IntN(3))), Session: id, Objective: "more", Links: []string{"ticket"},
	}}
}

// path is a node: an object, one of its facets, a name, or what is pending.
func (t *story) path() graph.NodeID {
	n := func() int { return t.r.IntN(2) }
	g := fmt.Sprintf("r/g%d", n())
	v := fmt.Sprintf("%s/v%d", g, n())
	return graph.NodeID(pick(t,
		g, v, v, v, fmt.Sprintf("%s/s%d", v, n()), fmt.Sprintf("%s/s%d", v, n()), v+"/~slot", v+"/~life",
		fmt.Sprintf("%s/~name/vm/n%d", g, n()), fmt.Sprintf("~pending/x%d", n()),
	))
}

// placed declares a path and all that it stands in.
func placed(id graph.NodeID) []graph.Decl {
	if strings.HasPrefix(string(id), "~pending/") {
		return append(placed("r/g0"), graph.Decl{ID: id, Parent: "r/g0", Kind: graph.Pending, Type: "sim_vm"})
	}
	if parent, _, ok := strings.Cut(string(id), "/~name/"); ok {
		return append(placed(graph.NodeID(parent)), graph.Decl{ID: id, Parent: graph.NodeID(parent), Kind: graph.Name, Type: "sim_vm"})
	}
	i := strings.LastIndexByte(string(id), '/')
	if i < 0 {
		return []graph.Decl{{ID: id, Kind: graph.Realm}}
	}
	d := graph.Decl{ID: id, Parent: id[:i], Kind: graph.Resource, Type: "sim_thing"}
	if _, _, facet := graph.OwnerOfFacet(id); facet {
		d.Kind, d.Type = graph.Facet, ""
	}
	return append(placed(id[:i]), d)
}

func (t *story) declare() admission.Command {
	c := admission.Declare{Stamp: t.stamp(), Session: t.session()}
	for range t.r.IntN(3) {
		p := t.path()
		c.Creates = append(c.Creates, placed(p)...)
		c.Selves = append(c.Selves, p)
	}
	return c
}

func (t *story) locks(nodes []graph.Decl, wants []lock.Want) lock.Plan {
	up := map[graph.NodeID]graph.NodeID{}
	for _, d := range nodes {
		up[d.ID] = d.Parent
	}
	return lock.Close(wants, func(id graph.NodeID) (graph.NodeID, bool) { return up[id], up[id] != "" })
}

// wants are the locks of an operation: its object, and sometimes what it
// refers to.
func (t *story) wants(self graph.NodeID, a admission.Action) (nodes []graph.Decl, wants []lock.Want, edges []graph.Edge) {
	nodes = placed(self)
	m := mode.X
	if a == admission.Read {
		m = mode.S
	}
	wants = []lock.Want{{Node: self, Mode: m, Relation: lock.Same, Rule: "sim/self", Class: "in_flight"}}
	for range t.r.IntN(3) {
		p := t.path()
		nodes = append(nodes, placed(p)...)
		switch t.r.IntN(3) {
		case 0:
			wants = append(wants, lock.Want{Node: p, Mode: pick(t, mode.S, mode.IX), Relation: lock.Rule, Rule: "sim/slot", Class: "throttle"})
		default:
			wants = append(wants, lock.Want{Node: p, Mode: mode.S, Relation: lock.Reference, Rule: "sim/ref", Class: "dependency"})
			edges = append(edges, graph.Edge{From: self, To: p, Kind: graph.References})
		}
	}
	return nodes, wants, edges
}

func (t *story) guards(self graph.NodeID, nodes []graph.Decl) []admission.Guard {
	var list []admission.Guard
	for range t.r.IntN(3) {
		g := admission.Guard{
			Kind: pick(t, admission.Present, admission.Present, admission.Unreferenced, admission.Version, admission.SameLife, admission.PlannedAt),
			Node: self, Rule: "sim/guard",
		}
		if t.chance(2) {
			g.Node = pick(t, nodes...).ID
		}
		n, _ := t.s.Graph().Get(g.Node)
		late := uint64(0)
		if t.chance(6) {
			late = 1
		}
		switch g.Kind {
		case admission.Version:
			g.Value = n.Version - min(late, n.Version)
		case admission.SameLife:
			g.Value = n.Incarnation - min(late, n.Incarnation)
		case admission.PlannedAt:
			g.Value = uint64(t.now - int64(t.r.IntN(20))*second*int64(late))
		}
		list = append(list, g)
	}
	return list
}

func (t *story) bucket() escrow.Key { return pick[escrow.Key](t, "q", "r/g0/v0#ips", "r/g1/v1#ips") }

func (t *story) effects() escrow.Effects {
	var list []escrow.Effect
	for range max(0, t.r.IntN(4)-1) {
		list = append(list, escrow.Effect{Bucket: t.bucket(), Amount: pick[int64](t, 1, 1, 2, 3, -1, -2)})
	}
	return escrow.Collect(list...)
}

func (t *story) submit() admission.Command {
	self := t.path()
	a := pick(t, admission.Create, admission.Create, admission.Update, admission.Delete, admission.Read)
	nodes, wants, edges := t.wants(self, a)
	t.txs++
	q := admission.Request{
		Session: t.session(), Key: uint64(t.txs), Action: a, Self: self, Nodes: nodes, Locks: t.locks(nodes, wants),
		Address: "sim." + string(self), Type: "sim_thing", Edges: edges, Guards: t.guards(self, nodes), Effects: t.effects(),
		KeepEdges: t.chance(6), Advisory: t.chance(12), Lands: pick(t, 0, 5*second), Timeout: pick(t, 0, 20*second),
	}
	if t.chance(10) && len(nodes) > 2 {
		e := graph.Edge{From: nodes[len(nodes)-1].ID, To: nodes[1].ID, Kind: graph.References}
		if t.chance(2) {
			q.AddEdges = append(q.AddEdges, e)
		} else {
			q.DropEdges = append(q.DropEdges, t.s.Graph().Out(e.From)...)
		}
	}
	for _, e := range q.DropEdges {
		q.Nodes = append(q.Nodes, placed(e.To)...)
	}
	if t.chance(8) {
		q.Intent = admission.IntentID(fmt.Sprintf("i%s-%d", q.Session, t.r.IntN(3)))
	}
	if t.chance(5) {
		q.Key = 0
	}
	return t.told(admission.Submit{Stamp: t.stamp(), ID: admission.TxID(fmt.Sprintf("t%d", t.txs)), Request: q})
}

func (t *story) told(c admission.Submit) admission.Command {
	t.requests = append(t.requests, c)
	return c
}

// again repeats a request, or submits a stale one with guards of now.
func (t *story) again() admission.Command {
	for _, old := range slices.Backward(t.requests) {
		if tx, _ := t.s.Tx(old.ID); tx.Status == admission.Stale && tx.Session == old.Request.Session {
			c := old
			c.Stamp = t.stamp()
			c.Request.Guards = t.guards(c.Request.Self, c.Request.Nodes)
			return c
		}
	}
	if len(t.requests) == 0 {
		return t.submit()
	}
	c := pick(t, t.requests...)
	c.Stamp = t.stamp()
	switch t.r.IntN(4) {
	case 0:
		c.ID += "-again"
	case 1:
		c.ID += "-other"
		c.Request.Address += "-other"
	}
	return c
}

// tx is mostly one that something can be done with.
func (t *story) tx(in ...admission.Status) admission.Tx {
	var fit []admission.Tx
	for _, tx := range t.s.Transactions() {
		if slices.Contains(in, tx.Status) && tx.Action != admission.Reserve {
			fit = append(fit, tx)
		}
	}
	if len(fit) == 0 || t.chance(25) {
		tx, _ := t.s.Tx(admission.TxID(fmt.Sprintf("t%d", t.r.IntN(t.txs+2))))
		return tx
	}
	return pick(t, fit...)
}

func (t *story) token(tx admission.Tx) uint64 {
	if t.chance(30) {
		return tx.Token + 1
	}
	return tx.Token
}

func (t *story) start() admission.Command {
	tx := t.tx(admission.Admitted)
	return admission.Start{Stamp: t.stamp(), Tx: tx.ID, Token: t.token(tx)}
}

func (t *story) complete() admission.Command {
	tx := t.tx(admission.Actioning, admission.Actioning, admission.Admitted, admission.Uncertain)
	c := admission.Complete{
		Stamp: t.stamp(), Tx: tx.ID, Token: t.token(tx), Exists: t.chance(2), Digest: pick(t, "", "d1", "d2"),
		Result: pick(t, admission.Succeeded, admission.Succeeded, admission.Succeeded, admission.Succeeded, admission.Errored, admission.Lost),
	}
	if tx.Status == admission.Admitted && !t.chance(3) {
		c.Result = admission.NotSent
	}
	if n, ok := t.s.Graph().Get(tx.Self); ok && (n.Kind == graph.Name || n.Kind == graph.Pending || t.chance(20)) {
		id := n.Parent + graph.NodeID(fmt.Sprintf("/v%d", t.r.IntN(3)))
		c.Bind = graph.Decl{ID: id, Parent: pick(t, n.Parent, n.Parent, ""), Kind: pick(t, "", graph.Resource)}
	}
	return c
}

func (t *story) withdraw() admission.Command {
	tx := t.tx(admission.Queued, admission.Admitted)
	if t.chance(5) {
		for _, p := range t.s.Transactions() {
			if p.Action == admission.Reserve && p.Status == admission.Admitted && t.chance(2) {
				tx = p
			}
		}
	}
	return admission.Withdraw{Stamp: t.stamp(), Tx: tx.ID, Cause: pick(t, "", "interrupted")}
}

func (t *story) resolve() admission.Command {
	return admission.Resolve{
		Stamp: t.stamp(), Tx: t.tx(admission.Uncertain).ID, Actor: pick(t, "", "ops", "ops", "ops"), Reason: "looked", Exists: t.chance(2),
	}
}

func (t *story) began() uint64 {
	i := t.s.Index()
	if t.chance(30) {
		return i + 1
	}
	return i - min(i, uint64(t.r.IntN(9)))
}

func (t *story) observe() admission.Command {
	c := admission.Observe{Stamp: t.stamp(), Session: t.session(), Began: t.began()}
	for range 1 + t.r.IntN(2) {
		decls := placed(t.path())
		o := admission.Observation{
			Decl: decls[len(decls)-1], Exists: !t.chance(3), Digest: pick(t, "", "d1", "d2"), Address: pick(t, "", "sim.read"),
		}
		if t.chance(2) {
			o.Edges = []graph.Edge{}
			if t.chance(2) {
				to := t.path()
				c.Nodes = append(c.Nodes, placed(to)...)
				o.Edges = append(o.Edges, graph.Edge{From: o.Decl.ID, To: to, Kind: graph.References})
			}
		}
		c.Nodes = append(c.Nodes, decls[:len(decls)-1]...)
		c.Objects = append(c.Objects, o)
	}
	return c
}

func (t *story) measure() admission.Command {
	c := admission.Measure{Stamp: t.stamp(), Session: t.session(), Began: t.began()}
	for range 1 + t.r.IntN(2) {
		r := admission.Reading{Bucket: t.bucket()}
		if !t.chance(4) {
			r.Limit = escrow.At(int64(2 + t.r.IntN(7)))
		}
		if !t.chance(4) {
			r.Use = escrow.At(int64(t.r.IntN(4)))
		}
		c.Readings = append(c.Readings, r)
	}
	return c
}

func (t *story) settle() admission.Command {
	tx := t.tx(admission.Uncertain)
	t.now += pick(t, 0, 0, 6*second, 30*second)
	c := admission.Settle{
		Stamp: t.stamp(), Session: t.session(), Tx: tx.ID, Began: t.began(), Exists: t.chance(2), Terminal: !t.chance(4), Digest: "d3",
	}
	c.BeganAt = t.now - int64(t.r.IntN(3))*second
	if at := t.s.Readable(tx.ID); at < t.now+1000*second && t.chance(3) {
		c.BeganAt = at - int64(t.r.IntN(2))
		c.Now = max(c.Now, c.BeganAt)
		t.now = c.Now
	}
	return c
}

func (t *story) pass() admission.Command {
	tx := t.tx(admission.Queued, admission.Rejected, admission.Stale)
	return admission.Pass{
		Stamp: t.stamp(), Tx: tx.ID, Mode: pick(t, "wait", "offline", "override", "observe", "else"), By: pick(t, "", "ops", "ops"), Reason: "urgent",
	}
}
