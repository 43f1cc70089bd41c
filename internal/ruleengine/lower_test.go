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

func TestCreateWithAnIDThatFollowsFromNames(t *testing.T) {
	t.Parallel()
	check(t, plan(t, operation(t, "demo_box", `
planned {
  id    = unknown
  name  = "B"
  shelf = "z/s"
  lids  = ["L", "l", "m", null, ""]
  heavy = "yes"
}`), nil), `
create A:z/s/b
IS A:l ancestor
S A:l/~life reference demo/demo_box.reference#lid dependency
S A:l/~top reference demo/demo_box.reference#lid dependency
IS A:m ancestor
S A:m/~life reference demo/demo_box.reference#lid dependency
S A:m/~top reference demo/demo_box.reference#lid dependency
IX A:root ancestor
IX A:z ancestor
IX A:z/s ancestor
X A:z/s/b same demo/demo_box.create#self name
X A:z/s/~slot rule demo/demo_box.create#shelf in_flight
? present A:z/s demo/demo_box.create#parent
? present A:l demo/demo_box.reference#lid
? present A:m demo/demo_box.reference#lid
edge A:z/s/b -attaches-> A:l
edge A:z/s/b -attaches-> A:m
`)
}

func TestKnownAfterCreate(t *testing.T) {
	t.Parallel()
	t.Run("the name is locked within the parent", func(t *testing.T) {
		t.Parallel()
		check(t, plan(t, operation(t, "demo_tag", `
planned {
  id    = "stale"
  label = "Red"
  box   = "z/s/b"
}`), nil), `
create A:z/s/b/~name/demo_tag/red
IX A:root ancestor
IX A:z ancestor
IX A:z/s ancestor
IX A:z/s/b ancestor
X A:z/s/b/~name/demo_tag/red name demo/demo_tag.create#self name
? present A:z/s/b demo/demo_tag.create#parent
edges stay`)
	})
	t.Run("without a name it is pending", func(t *testing.T) {
		t.Parallel()
		check(t, plan(t, operation(t, "demo_tag", `
planned {
  label = unknown
  box   = "z/s/b"
}`), nil), `
create ~pending/s1/demo_tag.x
IX A:root ancestor
IX A:z ancestor
IX A:z/s ancestor
IX A:z/s/b ancestor
X ~pending/s1/demo_tag.x same demo/demo_tag.create#self name
? present A:z/s/b demo/demo_tag.create#parent
edges stay
note: neither the id nor the name can be told (the value is not known yet): only the parent is announced`)
	})
	t.Run("afterwards the id is the cloud's", func(t *testing.T) {
		t.Parallel()
		op := operation(t, "demo_tag", "planned {\nlabel = \"red\"\nbox = \"z/s/b\"\n}")
		state := cty.ObjectVal(map[string]cty.Value{"id": cty.StringVal("T-1"), "label": cty.StringVal("red"), "box": cty.StringVal("z/s/b")})
		self, above, err := demo(t).SelfID(op, state)
		want := graph.Decl{ID: "demo:acme/t-1", Parent: "demo:acme/z/s/b", Kind: graph.Resource, Type: "demo_tag"}
		if err != nil || self != want || len(above) != 4 || above[3].Kind != graph.Realm {
			t.Errorf("SelfID = %+v, %+v, %v; want %+v below 4 nodes", self, above, err, want)
		}
	})
}

// What contains the object decides how much is taken when it is not known.
func TestUnknownParentsWiden(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ resourceType, src, want string }{
		"the facet that the rule names": {"demo_box", "planned {\nid = unknown\nname = \"b\"\nshelf = unknown\n}", "X A:root/~slot:zones"},
		"several steps up":              {"demo_tag", "planned {\nlabel = \"red\"\nbox = unknown\n}", "X A:root/~slot:zones"},
		"sensitive":                     {"demo_shelf", "planned {\nname = \"s\"\nzone = \"z\"\n}\nsensitive = [\"zone\"]", "X A:root/~slot:zones"},
	} {
		got := plan(t, operation(t, c.resourceType, c.src), nil)
		if !strings.Contains(got, c.want+" rule demo/"+c.resourceType+".create#widened in_flight\n") {
			t.Errorf("%s: no %s in\n%s", name, c.want, got)
		}
		if !strings.Contains(got, "note: the parent cannot be told") {
			t.Errorf("%s: nothing is noted in\n%s", name, got)
		}
		if strings.Contains(got, "present") {
			t.Errorf("%s: an unknown parent is guarded in\n%s", name, got)
		}
	}
}

func TestReferencesThatAreNotKnown(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ lids, sensitive, note string }{
		"unknown":            {`unknown`, ``, "reference lid is left out: the value is not known yet"},
		"an unknown element": {`["l", unknown]`, ``, "reference lid is left out: the value is not known yet"},
		"sensitive":          {`["secret-lid"]`, `sensitive = ["lids"]`, "reference lid is left out: the value is sensitive"},
		"no id":              {`["l", true, {}]`, ``, "reference lid is left out: rule for demo_box"},
		"too long":           {`["` + strings.Repeat("l", 3000) + `"]`, ``, "reference lid is left out: not usable as an id: longer than 2048 bytes"},
	} {
		got := plan(t, operation(t, "demo_box", "planned {\nid = unknown\nname = \"b\"\nshelf = \"z/s\"\nlids = "+c.lids+"\n}\n"+c.sensitive), nil)
		if !strings.Contains(got, "note: "+c.note) || !strings.Contains(got, "\nedges stay\n") {
			t.Errorf("%s: no note %q, or the known edges are taken for all, in\n%s", name, c.note, got)
		}
		if strings.Contains(got, "secret") {
			t.Errorf("%s: the plan tells a secret:\n%s", name, got)
		}
	}
}

func TestUpdatePinsOldAndNewReferences(t *testing.T) {
	t.Parallel()
	check(t, plan(t, operation(t, "demo_box", `
prior {
  id    = "z/s/b"
  name  = "b"
  shelf = "z/s"
  lids  = "old"
}
planned {
  id    = "z/s/b"
  name  = "b"
  shelf = "z/s"
  lids  = "new"
}`), nil), `
update A:z/s/b
IS A:new ancestor
S A:new/~life reference demo/demo_box.reference#lid dependency
S A:new/~top reference demo/demo_box.reference#lid dependency
IS A:old ancestor
S A:old/~life reference demo/demo_box.reference#lid dependency
S A:old/~top reference demo/demo_box.reference#lid dependency
IX A:root ancestor
IX A:z ancestor
IX A:z/s ancestor
X A:z/s/b same demo/demo_box.update#self lost_update
? present A:z/s demo/demo_box.update#parent
? present A:new demo/demo_box.reference#lid
edge A:z/s/b -attaches-> A:new`)
}

func TestConditions(t *testing.T) {
	t.Parallel()
	box := func(heavy string) string {
		return plan(t, operation(t, "demo_box", "planned {\nid = \"z/s/b\"\nname = \"b\"\nshelf = \"z/s\"\nheavy = "+heavy+"\n}"), nil)
	}
	if got := box(`"zone"`); !strings.Contains(got, "SIX A:z rule demo/demo_box.create#zone") || strings.Contains(got, "~slot") {
		t.Errorf("heavy = zone:\n%s", got)
	}
	got := box("unknown")
	if !strings.Contains(got, "X A:z/s/~slot rule") || !strings.Contains(got, "note: the condition of target shelf cannot be told (the value is not known yet): it is taken to hold") {
		t.Errorf("heavy unknown:\n%s", got)
	}
}

func TestDelete(t *testing.T) {
	t.Parallel()
	friend := graph.Decl{ID: "demo:acme/z/s/f", Parent: "demo:acme/z/s", Kind: graph.Resource, Type: "demo_box"}
	stranger := graph.Decl{ID: "demo:acme/q", Parent: "demo:acme/root", Kind: graph.Resource, Type: "demo_unruled"}
	foreign := graph.Decl{ID: "demo:other/z/s/f", Parent: "demo:other/z/s", Kind: graph.Resource, Type: "demo_box"}
	box := graph.NodeID("demo:acme/z/s/b")
	live := ruletest.Graph{
		Nodes: []graph.Decl{{ID: box, Parent: "demo:acme/z/s", Kind: graph.Resource, Type: "demo_box"}, friend, stranger, foreign},
		Edges: []graph.Edge{
			{From: friend.ID, To: box, Kind: graph.Depends},
			{From: stranger.ID, To: box, Kind: graph.Depends},
			{From: foreign.ID, To: box, Kind: graph.Depends},
			{From: box, To: friend.ID, Kind: graph.Routes},
		},
	}
	op := operation(t, "demo_box", "prior {\nid = \"z/s/b\"\nname = \"b\"\nshelf = \"z/s\"\nlids = [\"l\"]\n}")
	check(t, plan(t, op, live), `
delete A:z/s/b
IS A:l ancestor
S A:l/~life reference demo/demo_box.reference#lid dependency
S A:l/~top reference demo/demo_box.reference#lid dependency
IX A:root ancestor
IX A:z ancestor
IX A:z/s ancestor
X A:z/s/b same demo/demo_box.delete#self in_flight
IX A:z/s/f ancestor
X A:z/s/f/~config rule demo/demo_box.delete#friends in_flight
? unreferenced A:z/s/b demo/demo_box.delete#unreferenced
? version A:z/s/b = 7 demo/demo_box.delete#friends
? present A:root demo/demo_box.delete#present
note: A:q, reached over edge("depends", "in"), is left out: no rule places a node of type "demo_unruled"
note: demo:other/z/s/f, reached over edge("depends", "in"), is left out: it is in another account`)

	if got := plan(t, op, nil); !strings.Contains(got, `note: edge("depends", "in") is left out: the live graph was not asked`) {
		t.Errorf("without a graph:\n%s", got)
	}
	if got := plan(t, op, ruletest.Graph{}); strings.Contains(got, "version") || strings.Contains(got, "note") {
		t.Errorf("a node that the graph has never seen:\n%s", got)
	}
	lost := errors.New("lost")
	if _, err := demo(t).Lower(t.Context(), op, ruletest.Graph{Err: lost}); !errors.Is(err, lost) {
		t.Errorf("error of the graph = %v", err)
	}
}

func TestStableRead(t *testing.T) {
	t.Parallel()
	op := operation(t, "demo_box", "prior {\nid = \"z/s/b\"\nname = \"b\"\nlids = [\"l\"]\n}")
	op.Action, op.Planned = admission.Read, op.Prior
	check(t, plan(t, op, nil), `
read A:z/s/b
IS A:root ancestor
IS A:root/~reader rule demo/demo_box.read#one in_flight
IS A:z ancestor
IS A:z/s ancestor
S A:z/s/b same demo/demo_box.read#self in_flight
edges stay`)
}

func TestAssociations(t *testing.T) {
	t.Parallel()
	clip := func(src string) string { return plan(t, operation(t, "demo_clip", src), nil) }
	edgesOf := func(s string) string {
		var lines []string
		for line := range strings.SplitSeq(s, "\n") {
			if strings.HasPrefix(line, "edge") {
				lines = append(lines, line)
			}
		}
		return strings.Join(lines, "\n") + "\n"
	}
	old, wanted := "prior {\nbox = \"z/s/b\"\nlid = \"l\"\n}\n", "planned {\nbox = \"z/s/b\"\nlid = \"m\"\n}\n"
	check(t, edgesOf(clip(wanted)), `
edge A:clip/z/s/b -references-> A:z/s/b
edge A:clip/z/s/b -references-> A:m
edge+ A:z/s/b -routes-> A:m`)
	check(t, edgesOf(clip(old+wanted)), `
edge A:clip/z/s/b -references-> A:z/s/b
edge A:clip/z/s/b -references-> A:m
edge+ A:z/s/b -routes-> A:m
edge- A:z/s/b -routes-> A:l`)
	check(t, edgesOf(clip(old)), `edge- A:z/s/b -routes-> A:l`)
	check(t, edgesOf(clip(old+strings.Replace(old, "prior", "planned", 1))), `
edge A:clip/z/s/b -references-> A:z/s/b
edge A:clip/z/s/b -references-> A:l`)
}

func TestRealms(t *testing.T) {
	t.Parallel()
	lower := func(provider string, env ruleengine.Environment) (ruleengine.Lowered, error) {
		op := operation(t, "demo_lid", "planned {\nname = \"l\"\n}\n"+provider)
		return demo(t).WithEnvironment(env).Lower(t.Context(), op, nil)
	}
	withAccount := func(name string) (string, bool) { return "Env", name == "DEMO_ACCOUNT" }
	for name, c := range map[string]struct {
		provider string
		env      ruleengine.Environment
		want     graph.NodeID
		err      error
	}{
		"configuration":          {"provider {\naccount = \"a\"\n}", withAccount, "demo:a/l", nil},
		"environment":            {"provider {\naccount = null\n}", withAccount, "demo:Env/l", nil},
		"not known yet":          {"provider {\naccount = unknown\n}", withAccount, "", ruleengine.ErrUnknown},
		"neither of them":        {"provider {\naccount = null\n}", noEnvironment, "", nil},
		"an empty variable":      {"provider {\naccount = null\n}", func(string) (string, bool) { return "", true }, "", nil},
		"another provider block": {"provider {\nelse = \"a\"\n}", withAccount, "", nil},
	} {
		l, err := lower(c.provider, c.env)
		var unresolved *ruleengine.RealmError
		switch {
		case c.want != "" && (err != nil || l.Request.Self != c.want):
			t.Errorf("%s: self %s, %v; want %s", name, l.Request.Self, err, c.want)
		case c.want == "" && !errors.As(err, &unresolved):
			t.Errorf("%s: error %v, want a RealmError", name, err)
		case c.want == "" && !strings.Contains(err.Error(), "set account"):
			t.Errorf("%s: the error names no remedy: %v", name, err)
		case c.err != nil && !errors.Is(err, c.err):
			t.Errorf("%s: error %v, want %v", name, err, c.err)
		}
	}
	op := operation(t, "demo_lid", "planned {\nname = \"l\"\n}")
	op.ProviderConfig = cty.NilVal
	if _, err := demo(t).Lower(t.Context(), op, nil); !errors.Is(err, ruleengine.ErrUnknown) {
		t.Errorf("without a configuration: %v, want ErrUnknown", err)
	}
}

// A failing rule is an error of this operation alone; it quotes no secrets.
func TestRulesThatFail(t *testing.T) {
	t.Parallel()
	lower := func(src string) error {
		_, err := demo(t).Lower(t.Context(), operation(t, "demo_lid", src), nil)
		return err
	}
	var failed *ruleengine.EvalError
	if err := lower("planned {\nname = [\"x\"]\n}"); !errors.As(err, &failed) || failed.At.Filename != "demo/pack.hcl" || failed.Rule != "demo_lid" {
		t.Errorf("a list for an id: %v", err)
	}
	for name, id := range map[string]string{"a line break": `"a\nb"`, "too long": `"` + strings.Repeat("x", 2049) + `"`} {
		if err := lower("planned {\nname = " + id + "\n}"); !errors.Is(err, ruleengine.ErrIdentity) {
			t.Errorf("%s: %v, want ErrIdentity", name, err)
		}
	}
	op := operation(t, "demo_lid", "planned {\nname = \"l\"\n}")
	op.Action = "explode"
	if _, err := demo(t).Lower(t.Context(), op, nil); err == nil {
		t.Error("an unknown action is taken")
	}
}

func TestSecretsStayOutOfErrors(t *testing.T) {
	t.Parallel()
	e, diags := ruleengine.LoadPacks(packFS(strings.Replace(testPack, `id = "clip/${self.box}"`, `id = "clip/${regex("^[0-9]+$", self.box)}"`, 1)))
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	src := "planned {\nbox = \"hunter2\"\n}\n"
	_, err := e.Lower(t.Context(), operation(t, "demo_clip", src), nil)
	if err == nil {
		t.Fatal("the rule does not fail")
	}
	_, err = e.Lower(t.Context(), operation(t, "demo_clip", src+"sensitive = [\"box\"]\n"), nil)
	if err == nil || strings.Contains(err.Error(), "hunter2") || !strings.Contains(err.Error(), "withheld") {
		t.Errorf("error = %v", err)
	}
}

// An id of the cloud cannot pass for a facet or a name node.
func TestIDsCannotPassForFacets(t *testing.T) {
	t.Parallel()
	l, err := demo(t).Lower(t.Context(), operation(t, "demo_lid", "planned {\nname = \"l/~life\"\n}"), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, isFacet := graph.OwnerOfFacet(l.Request.Self); isFacet {
		t.Errorf("%s reads as a facet", l.Request.Self)
	}
}
