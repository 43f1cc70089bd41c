// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package view

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/core/escrow"
	"github.com/tfweaver/tfweaver/internal/core/graph"
	"github.com/tfweaver/tfweaver/internal/core/lock"
	"github.com/tfweaver/tfweaver/internal/core/mode"
)

// fataler is what the world needs of a test, and rapid's T has as well.
type fataler interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

// world is a state in which the session "me" is confined, "pal" is named to it,
// and all others are hidden.
type world struct {
	t fataler
	// group is the hidden group that contains the shared network.
	group graph.NodeID
	state *admission.State
	lens  *Lens
	local *Locals
	// shown is the last view that was rendered.
	shown View
	now   int64
	txs   int
	// watch are the lenses that the unwinding condition is checked for; checked
	// counts the transitions that nobody could notice.
	watch   []*Lens
	checked int
}

const bucket = "addresses"

func session(id string) admission.Session {
	return admission.Session{
		ID: admission.SessionID(id), Actor: "actor-" + id, Tool: "tool-" + id, RunURL: "https://" + id, Host: "host-" + id,
		Origin: "state-" + id, Lease: 1 << 50, Policy: admission.Queue,
	}
}

// policyFor shares the network and a subnet, whose parents stay hidden.
func policyFor(group graph.NodeID) Policy {
	with := []Subject{SessionSubject("me")}
	return Policy{
		Default: Confined,
		Shares: []Share{
			{Node: group + "/net", With: with, Mode: Use, Parents: NoParents},
			{Node: group + "/net/s1", With: with, Mode: Change, Parents: NoParents},
			{Node: group + "/later", With: with, Mode: Use, Parents: NoParents},
		},
		Shown: []Disclosure{{Sessions: []Subject{StateSubject("state-pal")}, To: with}},
	}
}

// newWorld opens the visible sessions, and lets what is there at first be seen.
func newWorld(t fataler, group graph.NodeID, policy admission.Policy) *world {
	t.Helper()
	w := &world{t: t, group: group, state: admission.New(), local: &Locals{}}
	w.lens = NewLens(policyFor(group), session("me"))
	w.watch = []*Lens{w.lens, NewLens(policyFor(group), session("pal"))}
	for _, id := range []string{"me", "pal", "root-" + nameOf(group)} {
		w.open(id, policy)
	}
	w.observe("me", true, "r/g", "r/g/vm")
	w.observe("root-"+nameOf(group), true, group, group+"/net", group+"/net/s1")
	w.must(admission.Measure{Stamp: w.at(), Session: "me", Began: w.state.Index(), Readings: []admission.Reading{{
		Bucket: w.bucket(), Limit: escrow.At(10), Use: escrow.At(2),
	}}})
	return w
}

func (w *world) bucket() escrow.Key { return admission.BucketOf(w.group+"/net/s1", bucket) }

func (w *world) at() admission.Stamp { return admission.Stamp{Now: w.now} }

func (w *world) open(id string, policy admission.Policy) {
	x := session(id)
	x.Policy = policy
	w.must(admission.OpenSession{
		Stamp: w.at(), Session: x, Intent: admission.Intent{ID: admission.IntentID("i-" + id), Objective: "objective of " + id},
	})
}

func (w *world) must(c admission.Command) []admission.Event {
	w.t.Helper()
	events, err := w.apply(c)
	if err != nil {
		w.t.Fatalf("%T: %v", c, err)
	}
	return events
}

// apply decides a command, and holds every lens to the unwinding condition.
func (w *world) apply(c admission.Command) ([]admission.Event, error) {
	before := w.state.Clone()
	events, err := w.state.Apply(c)
	for _, l := range w.watch {
		if l.Touched(before, w.state, events) {
			continue
		}
		if len(events) > 0 {
			w.checked++
		}
		if a, b := l.AppendTo(nil, before), l.AppendTo(nil, w.state); string(a) != string(b) {
			w.t.Fatalf("%s is not concerned by %T %+v, and sees another state:\n%q\n%q", l.Session(), c, events, a, b)
		}
	}
	return events, err
}

// declOf places a path; the first part is a realm.
func declOf(id graph.NodeID) graph.Decl {
	i := strings.LastIndex(string(id), "/")
	if i < 0 {
		return graph.Decl{ID: id, Kind: graph.Realm}
	}
	if owner, _, ok := graph.OwnerOfFacet(id); ok {
		return graph.Decl{ID: id, Parent: owner, Kind: graph.Facet}
	}
	if i := strings.Index(string(id), "/~name/"); i > 0 {
		return graph.Decl{ID: id, Parent: id[:i], Kind: graph.Name, Type: "sim_thing"}
	}
	kind := strings.TrimRight(string(id[i+1:]), "0123456789-")
	return graph.Decl{ID: id, Parent: id[:i], Kind: graph.Resource, Type: "sim_" + kind}
}

// place are nodes with all above them, parents first.
func place(ids ...graph.NodeID) []graph.Decl {
	var list []graph.Decl
	var add func(graph.NodeID)
	add = func(id graph.NodeID) {
		d := declOf(id)
		if d.Parent != "" {
			add(d.Parent)
		}
		if !slices.Contains(list, d) {
			list = append(list, d)
		}
	}
	for _, id := range ids {
		add(id)
	}
	return list
}

func parentOf(id graph.NodeID) (graph.NodeID, bool) {
	up := declOf(id).Parent
	return up, up != ""
}

func (w *world) observe(by string, exists bool, ids ...graph.NodeID) {
	c := admission.Observe{
		Stamp: w.at(), Session: admission.SessionID(by), Began: w.state.Index(), Nodes: place(ids...),
	}
	for _, id := range ids {
		c.Objects = append(c.Objects, admission.Observation{Decl: declOf(id), Exists: exists, Address: "addr." + nameOf(id), Digest: "d"})
	}
	_, _ = w.apply(c)
}

func want(id graph.NodeID, m mode.Mode, class string) lock.Want {
	return lock.Want{Node: id, Mode: m, Relation: lock.Rule, Rule: "sim/" + class, Class: class}
}

// op is a call, apart from who makes it.
type op struct {
	action  admission.Action
	self    graph.NodeID
	wants   []lock.Want
	refers  []graph.NodeID
	effects escrow.Effects
	guards  []admission.Guard
}

func (o op) request(by string) admission.Request {
	ids := []graph.NodeID{o.self}
	wants := o.wants
	var edges []graph.Edge
	for _, to := range o.refers {
		wants = append(wants, want(graph.FacetOf(to, graph.Life), mode.S, "dependency"))
		edges = append(edges, graph.Edge{From: o.self, To: to, Kind: graph.References})
		ids = append(ids, to)
	}
	for _, x := range wants {
		ids = append(ids, x.Node)
	}
	for _, g := range o.guards {
		ids = append(ids, g.Node)
	}
	return admission.Request{
		Session: admission.SessionID(by), Address: "sim." + nameOf(o.self) + "-" + by, Type: declOf(o.self).Type, Action: o.action, Self: o.self,
		Nodes: place(ids...), Locks: lock.Close(wants, parentOf), Guards: o.guards, Edges: edges, Effects: o.effects,
	}
}

// change is a call that takes its object, and what else it says.
func change(action admission.Action, id graph.NodeID, more ...lock.Want) op {
	o := op{action: action, self: id, wants: append([]lock.Want{want(id, mode.X, "in_flight")}, more...)}
	if action == admission.Delete {
		o.guards = []admission.Guard{{Kind: admission.Unreferenced, Node: id, Rule: "sim/unreferenced"}}
	}
	return o
}

// submit asks for a call; the errors of commands that the state refuses are
// part of what the caller sees.
func (w *world) submit(id admission.TxID, q admission.Request) error {
	_, err := w.apply(admission.Submit{Stamp: w.at(), ID: id, Request: q})
	return err
}

func (w *world) start(id admission.TxID) {
	tx, _ := w.state.Tx(id)
	_, _ = w.apply(admission.Start{Stamp: w.at(), Tx: id, Token: tx.Token})
}

func (w *world) complete(id admission.TxID, r admission.Result, exists bool) {
	tx, _ := w.state.Tx(id)
	_, _ = w.apply(admission.Complete{Stamp: w.at(), Tx: id, Token: tx.Token, Result: r, Exists: exists})
}

func toJSON(t fataler, v any) string {
	t.Helper()
	b, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// own are the transactions of a session, as it numbers them.
func (w *world) of(sessions ...string) []admission.Tx {
	return slices.DeleteFunc(w.state.Transactions(), func(tx admission.Tx) bool {
		return !slices.Contains(sessions, string(tx.Session))
	})
}

func (w *world) nextTx(by string) admission.TxID {
	w.txs++
	return admission.TxID(fmt.Sprintf("%s-%d", by, w.txs))
}
