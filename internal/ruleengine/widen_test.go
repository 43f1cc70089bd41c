// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package ruleengine_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/core/graph"
	"github.com/tfweaver/tfweaver/internal/ruleengine"
	"github.com/tfweaver/tfweaver/internal/ruleengine/ruletest"
	"github.com/zclconf/go-cty/cty"
)

// load loads a pack that must be right.
func load(t testing.TB, src string) *ruleengine.Engine {
	t.Helper()
	e, diags := ruleengine.LoadPacks(packFS(src))
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	return e.WithEnvironment(noEnvironment)
}

// A block for several actions is judged once.
func TestAWriteBlockIsJudgedOnce(t *testing.T) {
	t.Parallel()
	_, diags := ruleengine.LoadPacks(packFS(thing("on \"write\" {\ntarget \"a\" {\nnode = self\nmode = \"x\"\n}\nguard \"absent\" {\nnode = self\n}\n}")))
	if len(diags) != 2 {
		t.Errorf("%d diagnostics: %v", len(diags), diags)
	}
}

func TestVersionGuard(t *testing.T) {
	t.Parallel()
	e := load(t, thing("on \"update\" {\nguard \"version\" {\nnode = parent\n}\n}"))
	op := operation(t, "demo_thing", "prior {\nid = \"a\"\n}\nplanned {\nid = \"a\"\n}")
	lower := func(g ruleengine.Graph) (string, error) {
		l, err := e.Lower(t.Context(), op, g)
		return ruletest.Format(l, strings.NewReplacer()), err
	}
	root := ruletest.Graph{Nodes: []graph.Decl{{ID: "p:root", Kind: graph.Realm}}}
	if got, err := lower(root); err != nil || !strings.Contains(got, "? version p:root = 7 p/demo_thing.update#version\n") {
		t.Errorf("%v\n%s", err, got)
	}
	if got, err := lower(ruletest.Graph{}); err != nil || strings.Contains(got, "version") {
		t.Errorf("a node that nobody has seen is guarded: %v\n%s", err, got)
	}
	if got, err := lower(nil); err != nil || !strings.Contains(got, "note: the version of p:root is not guarded") {
		t.Errorf("without a graph: %v\n%s", err, got)
	}
	lost := errors.New("lost")
	if _, err := lower(ruletest.Graph{Err: lost}); !errors.Is(err, lost) {
		t.Errorf("error of the graph: %v", err)
	}
}

// An edge may start at another node than the object.
func TestEdgesOfOthers(t *testing.T) {
	t.Parallel()
	e := load(t, thing(`
reference "peer" {
  ids  = self.lid
  type = "demo_thing"
}
on "update" {
  target "friends" {
    node = edge("routes", "out", ref("peer"))
    mode = "X"
  }
}`))
	decl := func(id graph.NodeID) graph.Decl {
		return graph.Decl{ID: id, Parent: "p:root", Kind: graph.Resource, Type: "demo_thing"}
	}
	g := ruletest.Graph{
		Nodes: []graph.Decl{decl("p:b"), decl("p:c")},
		Edges: []graph.Edge{{From: "p:b", To: "p:c", Kind: graph.Routes}},
	}
	l, err := e.Lower(t.Context(), operation(t, "demo_thing", "prior {\nid = \"a\"\n}\nplanned {\nid = \"a\"\nlid = \"b\"\n}"), g)
	got := ruletest.Format(l, strings.NewReplacer())
	for _, want := range []string{"X p:c rule p/demo_thing.update#friends", "? version p:b = 7"} {
		if err != nil || !strings.Contains(got, want) {
			t.Errorf("no %q (%v) in\n%s", want, err, got)
		}
	}
}

func TestNothingStandsInItself(t *testing.T) {
	t.Parallel()
	src := head + "resource \"demo_thing\" {\n  id = self.id\n  parent \"demo_box\" {\n    id = self.box\n  }\n}\n" +
		"resource \"demo_box\" {\n  id = self.id\n  parent \"realm\" {}\n}\n"
	_, err := load(t, src).Lower(t.Context(), operation(t, "demo_thing", "planned {\nid = \"a\"\nbox = \"a\"\n}"), nil)
	if !errors.Is(err, ruleengine.ErrIdentity) {
		t.Errorf("error = %v, want ErrIdentity", err)
	}
	_, err = load(t, src).Lower(t.Context(), operation(t, "demo_thing", "planned {\nid = \"a\"\nbox = null\n}"), nil)
	if !errors.Is(err, ruleengine.ErrNull) {
		t.Errorf("a parent that is null: %v, want ErrNull", err)
	}
}

// The paths of a plan in JSON name the keys of maps like attributes.
func TestSensitiveMapElements(t *testing.T) {
	t.Parallel()
	e := load(t, thing(`name = "x"`))
	op := operation(t, "demo_thing", "planned {\nid = \"a\"\n}")
	op.Planned = cty.ObjectVal(map[string]cty.Value{"id": cty.StringVal("a"), "tags": cty.MapVal(map[string]cty.Value{"k": cty.StringVal("one")})})
	op.Sensitive = cty.NewPathSet(cty.GetAttrPath("tags").GetAttr("k"))
	other := cty.ObjectVal(map[string]cty.Value{"id": cty.StringVal("a"), "tags": cty.MapVal(map[string]cty.Value{"k": cty.StringVal("two")})})
	if e.Digest(op.Planned, op.Sensitive) != e.Digest(other, op.Sensitive) {
		t.Error("a sensitive element is in the digest")
	}
	if e.Digest(op.Planned, cty.NewPathSet()) == e.Digest(other, cty.NewPathSet()) {
		t.Error("an element is not in the digest")
	}
}

func TestSeeUnruled(t *testing.T) {
	t.Parallel()
	seen, ok, err := demo(t).See(object(t, "demo_hat", `id = "h"`))
	if err != nil || !ok || seen.Observation.Decl.ID != demoSource+"/demo_hat/h" || seen.Observation.Edges != nil || len(seen.Nodes) != 2 {
		t.Errorf("%+v, %v, %v", seen, ok, err)
	}
	nameless := object(t, "demo_hat", `id = "h"`)
	nameless.Provider = ""
	if _, _, err := demo(t).See(nameless); !errors.Is(err, ruleengine.ErrIdentity) {
		t.Errorf("without a provider: %v", err)
	}
}

// A state that the action does not have is not looked at.
func TestStatesThatAnActionDoesNotHave(t *testing.T) {
	t.Parallel()
	state := func(which, lid string) string { return which + " {\nbox = \"z/s/b\"\nlid = \"" + lid + "\"\n}\n" }
	both := operation(t, "demo_clip", state("prior", "l")+state("planned", "m"))
	both.Action = admission.Delete
	if got, want := plan(t, both, nil), plan(t, operation(t, "demo_clip", state("prior", "l")), nil); got != want {
		t.Errorf("delete:\n%s\nwant:\n%s", got, want)
	}
	both.Action = admission.Create
	if got, want := plan(t, both, nil), plan(t, operation(t, "demo_clip", state("planned", "m")), nil); got != want {
		t.Errorf("create:\n%s\nwant:\n%s", got, want)
	}
}

// As much of an id as is known tells what contains the object.
func TestAKnownPrefixNarrowsTheWidening(t *testing.T) {
	t.Parallel()
	e := load(t, head+`
resource "demo_group" {
  id = arm_id("S", self.zone)
  parent "realm" {}
}
resource "demo_box" {
  id = arm_id("S", self.zone, "Demo/boxes", self.box)
  parent "demo_group" {
    id    = arm_scope(id, "resourceGroups")
    widen = "slot:boxes"
  }
}
resource "demo_thing" {
  id = arm_id("S", self.zone, "Demo/boxes", self.box, "things", self.name)
  parent "demo_box" {
    id    = arm_scope(id, "boxes")
    widen = "slot:things"
  }
}
`)
	for name, c := range map[string][2]string{
		"the box is not known":   {"zone = \"z\"\nbox = unknown\nname = \"t\"", "X p:/subscriptions/S/resourceGroups/z/~slot:boxes rule p/demo_thing.create#widened"},
		"the group is not known": {"zone = unknown\nbox = \"b\"\nname = \"t\"", "X p:root rule p/demo_thing.create#widened"},
	} {
		l, err := e.Lower(t.Context(), operation(t, "demo_thing", "planned {\n"+c[0]+"\n}"), nil)
		if got := ruletest.Format(l, strings.NewReplacer()); err != nil || !strings.Contains(got, c[1]) {
			t.Errorf("%s: %v, no %q in\n%s", name, err, c[1], got)
		}
	}
}

// An object whose place is not known cannot be placed by its id alone.
func TestAKnownIDInAnUnknownPlace(t *testing.T) {
	t.Parallel()
	got := plan(t, operation(t, "demo_tag", "prior {\nid = \"t\"\nbox = \"z/s/b\"\n}\nplanned {\nid = \"t\"\nbox = unknown\n}"), nil)
	if !strings.HasPrefix(got, "update ~pending/s1/demo_tag.x\n") || !strings.Contains(got, "update#widened") {
		t.Errorf("got:\n%s", got)
	}
}
