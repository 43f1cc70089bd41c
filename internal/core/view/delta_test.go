// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package view

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/core/escrow"
	"github.com/tfweaver/tfweaver/internal/core/graph"
)

func refer(ids ...LocalID) []Reference {
	var list []Reference
	for _, id := range ids {
		list = append(list, Reference{ID: id, Kind: graph.References})
	}
	return list
}

func TestPreflight(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "r/h", admission.Queue)
	w.observe("pal", true, "r/g/pals")
	p := policyFor("r/h")
	p.Shares = append(p.Shares, Share{Node: "r/g/pals", With: []Subject{Everyone}, Mode: Read})
	w.lens = NewLens(p, session("me"))
	w.observe("me", false, "r/g/gone")
	w.must(admission.Observe{
		Stamp: w.at(), Session: "pal", Began: w.state.Index(),
		Objects: []admission.Observation{{
			Decl: declOf("r/g/pals"), Exists: true, Address: "x", Edges: []graph.Edge{{From: "r/g/pals", To: "r/g/vm", Kind: graph.References}},
		}},
	})
	v := w.local.View(w.lens, w.state)
	for name, c := range map[string]struct {
		delta Delta
		want  []string
	}{
		"a change of its own": {Delta{Action: admission.Update, Self: "vm-1", Uses: refer("s-1"), Planned: []Planned{{ID: "s-1", Version: 1}}}, nil},
		"a create in a share": {Delta{Action: admission.Create, Type: "t", In: "net-1", Name: "n", Needs: []Need{{ID: "s-1", Bucket: bucket, Amount: 8}}}, nil},
		"nothing seen":        {Delta{Action: admission.Update, Self: "h-1"}, []string{"visible self h-1 "}},
		"nothing to be in":    {Delta{Action: admission.Create, Type: "t", In: "h-1", Name: "n"}, []string{"visible in h-1 "}},
		"not its own":         {Delta{Action: admission.Update, Self: "net-1"}, []string{"owned self net-1 "}},
		"not to be used":      {Delta{Action: admission.Update, Self: "vm-1", Uses: refer("pals-1", "x-1")}, []string{"allowed uses[0] pals-1 ", "visible uses[1] x-1 "}},
		"no place":            {Delta{Action: admission.Create, Type: "t", In: "realm-1", Name: "n"}, []string{"allowed in realm-1 "}},
		"moved on":            {Delta{Action: admission.Read, Self: "vm-1", Planned: []Planned{{ID: "s-1", Version: 7}}}, []string{"guards planned[0] s-1 "}},
		"gone":                {Delta{Action: admission.Update, Self: "gone-1"}, []string{"visible self gone-1 "}},
		"in use":              {Delta{Action: admission.Delete, Self: "vm-1"}, []string{"dependencies self vm-1 pals-1"}},
		"contains":            {Delta{Action: admission.Delete, Self: "g-1"}, []string{"dependencies self g-1 pals-1"}},
		"no room":             {Delta{Action: admission.Update, Self: "vm-1", Needs: []Need{{ID: "s-1", Bucket: bucket, Amount: 9}}}, []string{"capacity needs[0] s-1 "}},
		"room for nobody":     {Delta{Action: admission.Update, Self: "vm-1", Needs: []Need{{ID: "h-1", Bucket: bucket, Amount: 9}}}, []string{"visible needs[0] h-1 "}},
	} {
		var got []string
		for _, f := range v.Preflight(c.delta) {
			got = append(got, fmt.Sprintf("%s %s %s %s", f.Check, f.Field, f.ID, f.Other))
			if f.Text == "" {
				t.Errorf("%s: %+v says nothing", name, f)
			}
		}
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}

// TestAbsentParent: nothing is created in what is not there.
func TestAbsentParent(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "r/h", admission.Queue)
	w.observe("root-h", false, "r/h/net")
	v := w.local.View(w.lens, w.state)
	got := v.Preflight(Delta{Action: admission.Create, Type: "t", In: "net-1", Name: "n"})
	if len(got) != 1 || got[0].Check != CheckDependencies {
		t.Errorf("%+v", got)
	}
}

func TestGlobalDelta(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "r/h", admission.Queue)
	w.local.View(w.lens, w.state)
	net, _ := w.state.Graph().Get("r/h/net/s1")
	q, err := w.local.GlobalDelta(w.lens, w.state, Delta{
		Action: admission.Create, Type: "sim_thing", Address: "sim.x", In: "net-1", Name: "x",
		Uses: refer("s-1"), Planned: []Planned{{ID: "s-1", Version: 1}}, Needs: []Need{{ID: "s-1", Bucket: bucket, Amount: 1}},
	})
	if err != nil {
		t.Fatal(err)
	}
	self := graph.NameOf("r/h/net", "sim_thing", "x")
	want := admission.Request{
		Session: "me", Address: "sim.x", Type: "sim_thing", Action: admission.Create, Self: self,
		Nodes: []graph.Decl{
			declOf("r"), declOf("r/h"), declOf("r/h/net"), {ID: self, Parent: "r/h/net", Kind: graph.Name, Type: "sim_thing"}, declOf("r/h/net/s1"),
		},
		Guards:  []admission.Guard{{Kind: admission.Version, Node: "r/h/net/s1", Value: net.Version}},
		Edges:   []graph.Edge{{From: self, To: "r/h/net/s1", Kind: graph.References}},
		Effects: escrow.Collect(escrow.Effect{Bucket: w.bucket(), Amount: 1}),
	}
	if d := cmp.Diff(want, q); d != "" {
		t.Error(d)
	}
	if err := w.submit("t", q); err != nil {
		t.Errorf("the state refuses what was resolved: %v", err)
	}
}

func TestGlobalDeltaRefuses(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "r/h", admission.Queue)
	w.local.View(w.lens, w.state)
	for name, c := range map[string]struct {
		delta Delta
		want  error
	}{
		"unknown":         {Delta{Action: admission.Update, Self: "h-1"}, ErrUnknownID},
		"global":          {Delta{Action: admission.Update, Self: "r/g/vm"}, ErrUnknownID},
		"not allowed":     {Delta{Action: admission.Update, Self: "net-1"}, ErrNotAllowed},
		"no use":          {Delta{Action: admission.Update, Self: "vm-1", Uses: refer("realm-1")}, ErrNotAllowed},
		"moved on":        {Delta{Action: admission.Update, Self: "vm-1", Planned: []Planned{{ID: "s-1", Version: 2}}}, ErrChanged},
		"no object":       {Delta{Action: admission.Delete}, ErrDelta},
		"no name":         {Delta{Action: admission.Create, In: "g-1", Type: "t"}, ErrDelta},
		"not there yet":   {Delta{Action: admission.Create, In: "node-1", Type: "t", Name: "n"}, ErrDelta},
		"foreign numbers": {Delta{Action: admission.Update, Self: "vm-1", Needs: []Need{{ID: "h-1", Bucket: "x", Amount: 1}}}, ErrUnknownID},
	} {
		if q, err := w.local.GlobalDelta(w.lens, w.state, c.delta); !errors.Is(err, c.want) || q.Self != "" {
			t.Errorf("%s: %v", name, err)
		}
	}
	if q, err := w.local.GlobalDelta(w.lens, w.state, Delta{Action: admission.Read, Self: "net-1"}); err != nil || q.Self != "r/h/net" {
		t.Errorf("a read: %v", err)
	}
}

// TestNotices tell what is different between two views, and nothing of what is
// hidden.
func TestNotices(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "r/h", admission.Queue)
	w.open("stranger", admission.Queue)
	last := w.local.View(w.lens, w.state)
	told := func() []string {
		v := w.local.View(w.lens, w.state)
		list := []string{}
		for _, n := range Notices(last, v) {
			line := n.Kind + " " + n.What
			switch {
			case n.Node != nil:
				line += fmt.Sprint(" ", n.Node.ID, " ", n.Node.Lifecycle)
			case n.Edge != nil:
				line += fmt.Sprint(" ", n.Edge.From, " ", n.Edge.To)
			case n.Lock != nil:
				line += fmt.Sprint(" ", n.Lock.Node, " ", n.Lock.Mode, " ", n.Lock.By)
			case n.Capacity != nil:
				line += fmt.Sprint(" ", n.Capacity.Available)
			case n.Call != nil:
				line += fmt.Sprint(" ", n.Call.ID, " ", n.Call.Status)
			}
			list = append(list, line)
		}
		last = v
		return list
	}
	expect := func(want ...string) {
		t.Helper()
		if want == nil {
			want = []string{}
		}
		if d := cmp.Diff(want, told()); d != "" {
			t.Error(d)
		}
	}
	expect()
	_ = w.submit("t", slotWrite(w, "r/h/net/secret").request("stranger"))
	expect()
	o := change(admission.Create, "r/g/nic")
	o.refers, o.effects = []graph.NodeID{"r/h/net/s1"}, escrow.Collect(escrow.Effect{Bucket: w.bucket(), Amount: 1})
	_ = w.submit("mine", o.request("me"))
	expect("node appeared nic-1 ", "lock appeared g-1 IX self", "lock appeared net-1 IS self", "lock appeared nic-1 X self",
		"lock appeared s-1 IS self", "lock appeared s-1 S self", "capacity changed 7", "call appeared mine admitted")
	w.start("mine")
	expect("node changed nic-1 creating", "call changed mine actioning")
	w.complete("mine", admission.Succeeded, true)
	expect("node changed nic-1 operational", "edge appeared nic-1 s-1", "lock gone g-1 IX self", "lock gone net-1 IS self", "lock gone nic-1 X self",
		"lock gone s-1 IS self", "lock gone s-1 S self", "call gone mine actioning")
	_ = w.submit("u", change(admission.Update, "r/h/net/s1").request("root-h"))
	expect("lock appeared s-1 X " + Alias)
	w.start("u")
	expect("node changed s-1 updating")
}
