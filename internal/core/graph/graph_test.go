// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package graph

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func realm(id NodeID) Decl { return Decl{ID: id, Kind: Realm} }

func resource(id, parent NodeID) Decl { return Decl{ID: id, Parent: parent, Kind: Resource, Type: "t"} }

func facet(owner NodeID, name string) Decl {
	return Decl{ID: FacetOf(owner, name), Parent: owner, Kind: Facet}
}

func sample(t *testing.T) *Graph {
	t.Helper()
	g := New()
	err := g.Place([]Decl{
		realm("r"), resource("r/g", "r"), resource("r/g/v", "r/g"), resource("r/g/v/s2", "r/g/v"),
		resource("r/g/v/s1", "r/g/v"), facet("r/g/v", "slot"), realm("q"), resource("q/x", "q"),
	})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func ids(g *Graph, root NodeID) []NodeID {
	var list []NodeID
	for n := range g.Subtree(root) {
		list = append(list, n.ID)
	}
	return list
}

func TestContainment(t *testing.T) {
	t.Parallel()
	g := sample(t)
	if d := cmp.Diff([]NodeID{"r/g/v", "r/g/v/s1", "r/g/v/s2", "r/g/v/~slot"}, ids(g, "r/g/v")); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]NodeID{"r/g/v", "r/g", "r"}, g.Ancestors("r/g/v/s1")); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]NodeID{"q", "r"}, g.Children("")); d != "" {
		t.Error(d)
	}
	if p, ok := g.Parent("r"); ok || p != "" {
		t.Errorf("a realm under %q", p)
	}
	if !g.Contains("r", "r/g/v/s1") || !g.Contains("r/g", "r/g") || g.Contains("r/g/v/s1", "r/g/v") || g.Contains("q", "r/g") {
		t.Error("Contains")
	}
	if g.Len() != 8 || !g.Has("q/x") || g.Has("x") {
		t.Errorf("%d nodes", g.Len())
	}
	if got := ids(g, "nothing"); got != nil {
		t.Errorf("the subtree of nothing: %v", got)
	}
	all := 0
	for range g.Nodes() {
		if all++; all == 3 {
			break // iteration can be left
		}
	}
	if all != 3 {
		t.Errorf("%d nodes before the break", all)
	}
}

func TestPlaceRefuses(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		decl Decl
		want error
	}{
		"a second parent":      {resource("r/g/v/s1", "r/g"), ErrMisplaced},
		"a realm below":        {Decl{ID: "r/g", Kind: Realm}, ErrMisplaced},
		"another kind":         {Decl{ID: "r/g", Parent: "r", Kind: Pending}, ErrShape},
		"no parent there":      {resource("z/y", "z"), ErrOrphan},
		"no id":                {Decl{Parent: "r", Kind: Resource}, ErrShape},
		"a root that is none":  {Decl{ID: "lost", Kind: Resource}, ErrShape},
		"a realm with parent":  {Decl{ID: "sub", Parent: "r", Kind: Realm}, ErrShape},
		"its own parent":       {resource("me", "me"), ErrShape},
		"a facet of another":   {Decl{ID: "r/g/~life", Parent: "r/g/v", Kind: Facet}, ErrShape},
		"a facet with no name": {Decl{ID: "r/g/life", Parent: "r/g", Kind: Facet}, ErrShape},
		"a name elsewhere":     {Decl{ID: "r/~name/t/n", Parent: "r/g", Kind: Name}, ErrShape},
		"no kind":              {Decl{ID: "r/g/k", Parent: "r/g"}, ErrShape},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := sample(t)
			before, _ := json.Marshal(g)
			err := g.Place([]Decl{resource("r/g/new", "r/g"), c.decl})
			if !errors.Is(err, c.want) {
				t.Errorf("got %v, want %v", err, c.want)
			}
			if c.decl.ID != "" && !strings.Contains(fmt.Sprint(err), string(c.decl.ID)) {
				t.Errorf("%v does not name the node", err)
			}
			if after, _ := json.Marshal(g); string(before) != string(after) {
				t.Error("part of the list was placed")
			}
		})
	}
}

func TestPlaceAgain(t *testing.T) {
	t.Parallel()
	g := sample(t)
	fresh, err := g.Check([]Decl{resource("r/g", "r"), resource("r/g/w", "r/g"), resource("r/g/w/s", "r/g/w"), resource("r/g/w", "r/g")})
	if err != nil || len(fresh) != 2 {
		t.Errorf("%v %v", fresh, err)
	}
	if err := g.Place([]Decl{{ID: "r/g/u", Parent: "r/g", Kind: Resource}}); err != nil {
		t.Fatal(err)
	}
	if err := g.Place([]Decl{resource("r/g/u", "r/g"), {ID: "r/g/v", Parent: "r/g", Kind: Resource, Type: "other"}}); err != nil {
		t.Fatal(err)
	}
	if u, _ := g.Get("r/g/u"); u.Type != "t" {
		t.Errorf("the type was not filled in: %q", u.Type)
	}
	if v, _ := g.Get("r/g/v"); v.Type != "t" {
		t.Errorf("the first type was replaced by %q", v.Type)
	}
	name := NameOf("r/g", "vm", "web")
	if err := g.Place([]Decl{{ID: name, Parent: "r/g", Kind: Name}, facet(name, Life)}); err != nil {
		t.Errorf("a name and its facet: %v", err)
	}
}

func TestEdges(t *testing.T) {
	t.Parallel()
	g := sample(t)
	e := func(from, to NodeID, k EdgeKind) Edge { return Edge{From: from, To: to, Kind: k} }
	a, b, c := e("r/g/v/s1", "q/x", References), e("r/g/v/s2", "q/x", Attaches), e("r/g/v/s1", "unseen", Routes)
	for _, x := range []Edge{c, b, a} {
		if !g.AddEdge(x) || g.AddEdge(x) || !g.HasEdge(x) {
			t.Errorf("AddEdge(%v)", x)
		}
	}
	if d := cmp.Diff([]Edge{a, b}, g.In("q/x")); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]Edge{a, c}, g.Out("r/g/v/s1")); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]Edge{c}, g.In("unseen")); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]Edge{a, c, b}, g.Edges()); d != "" || g.EdgeCount() != 3 {
		t.Error(d, g.EdgeCount())
	}
	other := e("r/g", "q", Depends)
	if !g.SetEdges("r/g/v/s1", []Edge{a, other}) || g.HasEdge(c) || g.HasEdge(other) || !g.HasEdge(a) {
		t.Error("SetEdges replaces the node's own edges and no others")
	}
	if g.SetEdges("r/g/v/s1", []Edge{a}) {
		t.Error("SetEdges changed nothing and said so")
	}
	if g.RemoveEdge(c) || !g.RemoveEdge(a) || len(g.In("q/x")) != 1 {
		t.Error("RemoveEdge")
	}
}

func TestUpdateKeepsThePlace(t *testing.T) {
	t.Parallel()
	g := sample(t)
	g.Update("r/g", func(n *Node) { n.ID, n.Parent, n.Kind, n.Owner = "x", "y", Name, "me" })
	n, _ := g.Get("r/g")
	if n.ID != "r/g" || n.Parent != "r" || n.Kind != Resource || n.Owner != "me" {
		t.Errorf("%+v", n)
	}
	g.Update("nothing", func(*Node) { t.Error("changed a node that is not there") })
}

func TestRemove(t *testing.T) {
	t.Parallel()
	g := sample(t)
	g.AddEdge(Edge{From: "q/x", To: "r/g/v/s1"})
	g.AddEdge(Edge{From: "r/g/v/s1", To: "q"})
	g.Remove("r/g/v")
	if !g.Has("r/g/v") {
		t.Error("removed a node with children")
	}
	g.Remove("r/g/v/s1")
	if g.Has("r/g/v/s1") || g.EdgeCount() != 0 || slices.Contains(g.Children("r/g/v"), "r/g/v/s1") {
		t.Error("the node or its edges are left")
	}
	if err := g.Place([]Decl{resource("r/g/v/s1", "r/g/v")}); err != nil {
		t.Error(err)
	}
}

// TestCloneIsIndependent: whatever is done to a copy, the original keeps its
// bytes, and the other way round.
func TestCloneIsIndependent(t *testing.T) {
	t.Parallel()
	g := sample(t)
	g.AddEdge(Edge{From: "q/x", To: "r/g"})
	before, _ := json.Marshal(g)
	c := g.Clone()
	for _, x := range []*Graph{c, g} {
		x.Update("r/g", func(n *Node) { n.Remember(Change{Session: "s"}); n.Version = 9 })
		x.AddEdge(Edge{From: "r/g", To: "q/x"})
		x.RemoveEdge(Edge{From: "q/x", To: "r/g"})
		_ = x.Place([]Decl{resource("r/a", "r"), facet("r/g/v", "a")})
		x.Remove("r/g/v/s1")
		if x == c {
			if after, _ := json.Marshal(g); string(before) != string(after) {
				t.Fatal("the copy is not independent")
			}
		}
	}
}

func TestJSON(t *testing.T) {
	t.Parallel()
	g := sample(t)
	g.AddEdge(Edge{From: "q/x", To: "r/g", Kind: Depends})
	g.Update("r/g", func(n *Node) {
		n.Lifecycle = Operational
		n.Touch("s", 4)
		n.Remember(Change{Session: "s", Action: "create"})
	})
	data, err := json.Marshal(g)
	if err != nil {
		t.Fatal(err)
	}
	back := New()
	if err := json.Unmarshal(data, back); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(g, back, cmp.Exporter(func(reflect.Type) bool { return true })); d != "" {
		t.Error(d)
	}
	var wide bytes.Buffer // the same in another form is the same
	if err := json.Indent(&wide, data, "", "  "); err != nil {
		t.Fatal(err)
	}
	spread := New()
	if err := json.Unmarshal(wide.Bytes(), spread); err != nil {
		t.Fatal(err)
	}
	if again, err := json.Marshal(spread); err != nil || !bytes.Equal(again, data) {
		t.Errorf("%s: %v", again, err)
	}
	for name, bad := range map[string]string{
		"new fact":  `{"nodes":[{"id":"a","kind":"realm","colour":"red"}],"edges":[]}`,
		"orphan":    `{"nodes":[{"id":"a","parent":"b","kind":"resource"}],"edges":[]}`,
		"null":      `{"nodes":[null],"edges":[]}`,
		"new field": `{"nodes":[],"edges":[],"buckets":[]}`,
		"damage":    `{"nodes":`,
	} {
		if err := json.Unmarshal([]byte(bad), back); err == nil {
			t.Errorf("%s was read", name)
		}
	}
	if back.Len() != g.Len() {
		t.Error("a failed read changed the graph")
	}
}

func TestTouch(t *testing.T) {
	t.Parallel()
	var n Node
	type ask struct {
		version uint64
		session string
		want    bool
	}
	check := func(stage string, asks ...ask) {
		t.Helper()
		for _, a := range asks {
			if got := n.UnchangedSince(a.version, a.session); got != a.want {
				t.Errorf("%s: version %d for %q: %t", stage, a.version, a.session, got)
			}
		}
	}
	check("new", ask{0, "a", true}, ask{1, "a", false})
	n.Touch("a", 1)
	n.Touch("a", 2)
	check("a twice", ask{2, "b", true}, ask{1, "a", true}, ask{0, "a", true}, ask{0, "b", false}, ask{3, "a", false})
	n.Touch("b", 3)
	check("then b", ask{2, "b", true}, ask{2, "a", false}, ask{1, "b", false}, ask{3, "a", true})
	n.Touch("", 4)
	check("then outside", ask{3, "b", false}, ask{3, "", false}, ask{4, "b", true})
	n.Touch("", 5)
	check("outside again", ask{4, "", false})
	if n.ChangedIndex != 5 || n.Version != 5 {
		t.Errorf("%+v", n)
	}
}

func TestRemember(t *testing.T) {
	t.Parallel()
	var n Node
	if _, ok := n.LastChange(); ok {
		t.Error("a change of an untouched node")
	}
	for i := range HistoryLimit + 3 {
		shared := n.History
		dropped, full := n.Remember(Change{At: int64(i)})
		if full != (i >= HistoryLimit) || full && dropped.At != int64(i-HistoryLimit) {
			t.Errorf("entry %d dropped %v (%t)", i, dropped, full)
		}
		if len(shared) > 0 && shared[len(shared)-1].At != int64(i-1) {
			t.Error("a shared history was written to")
		}
	}
	if last, _ := n.LastChange(); last.At != HistoryLimit+2 || len(n.History) != HistoryLimit {
		t.Errorf("last %v of %d", last, len(n.History))
	}
}

func TestIDs(t *testing.T) {
	t.Parallel()
	for id, want := range map[NodeID][2]string{
		"r/g/~life":                {"r/g", "life"},
		"r/g/~slot:subnet":         {"r/g", "slot:subnet"},
		"r/g/~name/vm/web/~config": {"r/g/~name/vm/web", "config"},
		"~pending/s/vm.a/~life":    {"~pending/s/vm.a", "life"},
	} {
		owner, name, ok := OwnerOfFacet(id)
		if !ok || owner != NodeID(want[0]) || name != want[1] {
			t.Errorf("%s: %q %q %t", id, owner, name, ok)
		}
		if FacetOf(owner, name) != id {
			t.Errorf("%s is not built back", id)
		}
	}
	for _, id := range []NodeID{"r", "r/g", NameOf("r", "vm", "web"), PendingOf("s", "vm.a")} {
		if owner, name, ok := OwnerOfFacet(id); ok {
			t.Errorf("%s is a facet %q of %q", id, name, owner)
		}
	}
}

func TestLive(t *testing.T) {
	t.Parallel()
	live := []Lifecycle{Creating, Operational, Updating, Deleting, Failed, Uncertain}
	for _, l := range append(live, Unknown, Absent, "nonsense") {
		if l.Live() != slices.Contains(live, l) {
			t.Errorf("%q", l)
		}
	}
}
