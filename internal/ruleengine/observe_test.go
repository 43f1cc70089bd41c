// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package ruleengine_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/core/graph"
	"github.com/tfweaver/tfweaver/internal/ruleengine"
	"github.com/tfweaver/tfweaver/internal/ruleengine/ruletest"
	"github.com/zclconf/go-cty/cty"
)

// object is a read of the test pack's provider.
func object(t testing.TB, resourceType, attrs string) ruleengine.Object {
	t.Helper()
	op := operation(t, resourceType, "prior {\n"+attrs+"\n}")
	return ruleengine.Object{
		Provider: op.Provider, ProviderConfig: op.ProviderConfig, Type: resourceType,
		Address: op.Address, State: op.Prior, Sensitive: op.Sensitive,
	}
}

func TestSee(t *testing.T) {
	t.Parallel()
	o := object(t, "demo_box", "id = \"z/s/B\"\nlids = [\"L\"]")
	seen, ok, err := demo(t).See(o)
	if err != nil || !ok {
		t.Fatalf("See: %v, %v", ok, err)
	}
	want := ruleengine.Seen{
		Nodes: []graph.Decl{
			{ID: "demo:acme/root", Kind: graph.Realm, Type: "account"},
			{ID: "demo:acme/z", Parent: "demo:acme/root", Kind: graph.Resource, Type: "demo_zone"},
			{ID: "demo:acme/z/s", Parent: "demo:acme/z", Kind: graph.Resource, Type: "demo_shelf"},
			{ID: "demo:acme/z/s/b", Parent: "demo:acme/z/s", Kind: graph.Resource, Type: "demo_box"},
			{ID: "demo:acme/l", Parent: "demo:acme/root", Kind: graph.Resource, Type: "demo_lid"},
		},
		Observation: admission.Observation{
			Decl:   graph.Decl{ID: "demo:acme/z/s/b", Parent: "demo:acme/z/s", Kind: graph.Resource, Type: "demo_box"},
			Exists: true, Address: "demo_box.x", Digest: demo(t).Digest(o.State, o.Sensitive),
			Edges: []graph.Edge{{From: "demo:acme/z/s/b", To: "demo:acme/l", Kind: graph.Attaches}},
		},
		Terminal: true,
	}
	if diff := cmp.Diff(want, seen); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	o.Gone = true
	seen, ok, err = demo(t).See(o)
	if err != nil || !ok || seen.Observation.Exists || seen.Observation.Digest != "" || seen.Observation.Edges != nil {
		t.Errorf("gone: %+v, %v, %v", seen.Observation, ok, err)
	}
}

func TestEdgesThatAreNotAllKnown(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		resourceType, attrs string
		known               bool
	}{
		"none":                     {"demo_box", `id = "z/s/b"`, true},
		"unknown":                  {"demo_box", "id = \"z/s/b\"\nlids = [\"l\", unknown]", false},
		"a type without any":       {"demo_lid", `name = "l"`, false},
		"one that is no reference": {"demo_box", "id = \"z/s/b\"\nlids = [true, {}]", false},
	} {
		seen, ok, err := demo(t).See(object(t, c.resourceType, c.attrs))
		if err != nil || !ok || (seen.Observation.Edges != nil) != c.known {
			t.Errorf("%s: edges %v, %v, %v", name, seen.Observation.Edges, ok, err)
		}
	}
}

func TestWhatCannotBeSeen(t *testing.T) {
	t.Parallel()
	null := object(t, "demo_lid", `name = "l"`)
	null.State = cty.NullVal(null.State.Type())
	absent := null
	absent.State = cty.NilVal
	logical := object(t, "random_pet", `id = "x"`)
	logical.Provider = "registry.terraform.io/hashicorp/random"
	unnamed := object(t, "demo_hat", `name = "x"`)
	for name, o := range map[string]ruleengine.Object{
		"a null state": null, "no state": absent, "a logical object": logical, "an unruled one without id": unnamed,
		"a ruled one without id": object(t, "demo_tag", `label = "x"`+"\nbox = \"z/s/b\""),
	} {
		if seen, ok, err := demo(t).See(o); ok || err != nil {
			t.Errorf("%s: %+v, %v, %v", name, seen, ok, err)
		}
	}
	lost := object(t, "demo_lid", `name = "l"`)
	lost.ProviderConfig = cty.NullVal(cty.DynamicPseudoType)
	var unresolved *ruleengine.RealmError
	if _, _, err := demo(t).See(lost); !errors.As(err, &unresolved) {
		t.Errorf("without a realm: %v", err)
	}
}

func TestUnruledTypes(t *testing.T) {
	t.Parallel()
	hat := func(src string) string {
		op := operation(t, "demo_hat", src)
		l, err := demo(t).Lower(t.Context(), op, nil)
		if err != nil {
			t.Fatal(err)
		}
		if l.Ruled || l.Logical {
			t.Errorf("ruled %v, logical %v", l.Ruled, l.Logical)
		}
		if wrong := ruletest.Check(l); wrong != "" {
			t.Error(wrong)
		}
		return ruletest.Format(l, strings.NewReplacer(demoSource, "P"))
	}
	const note = "\nedges stay\nnote: no rule knows demo_hat: only the object itself is taken"
	check(t, hat("planned {\nid = unknown\n}"), "create ~pending/s1/demo_hat.x\nIX P ancestor\nX ~pending/s1/demo_hat.x same unruled/own_object name"+note)
	check(t, hat("prior {\nid = \"Hat/1\"\n}\nplanned {\nid = \"Hat/1\"\n}"), "update P/demo_hat/Hat/1\nIX P ancestor\nX P/demo_hat/Hat/1 same unruled/own_object lost_update"+note)
	check(t, hat("prior {\nid = \"Hat/1\"\n}"), "delete P/demo_hat/Hat/1\nIX P ancestor\nX P/demo_hat/Hat/1 same unruled/own_object in_flight"+note)
	check(t, hat("prior {\nid = \"secret\"\n}\nsensitive = [\"id\"]"), "delete ~pending/s1/demo_hat.x\nIX P ancestor\nX ~pending/s1/demo_hat.x same unruled/own_object in_flight"+note)

	op := operation(t, "demo_hat", "planned {\nid = unknown\n}")
	if _, _, err := demo(t).SelfID(op, op.Planned); !errors.Is(err, ruleengine.ErrUnknown) {
		t.Errorf("SelfID of an unknown id: %v", err)
	}
	self, above, err := demo(t).SelfID(op, cty.ObjectVal(map[string]cty.Value{"id": cty.StringVal("h")}))
	if err != nil || self.ID != demoSource+"/demo_hat/h" || len(above) != 1 {
		t.Errorf("SelfID = %+v, %+v, %v", self, above, err)
	}
}

// Objects without an address are told apart by what is planned for them.
func TestPendingWithoutAnAddress(t *testing.T) {
	t.Parallel()
	self := func(label string) graph.NodeID {
		op := operation(t, "demo_hat", "planned {\nid = unknown\nlabel = \""+label+"\"\n}")
		op.Address, op.Session = "", ""
		l, err := demo(t).Lower(t.Context(), op, nil)
		if err != nil {
			t.Fatal(err)
		}
		return l.Request.Self
	}
	a, b := self("a"), self("b")
	if a == b || a != self("a") || !strings.HasPrefix(string(a), "~pending/-/?demo_hat/") {
		t.Errorf("%s and %s", a, b)
	}
}

func TestLogicalProvidersTakeNothing(t *testing.T) {
	t.Parallel()
	for _, provider := range []string{
		"registry.terraform.io/hashicorp/random", "registry.terraform.io/hashicorp/tls", "registry.opentofu.org/hashicorp/time",
		"registry.terraform.io/hashicorp/null", "registry.terraform.io/hashicorp/local", "terraform.io/builtin/terraform",
	} {
		op := operation(t, "random_pet", "planned {\nid = unknown\n}")
		op.Provider = provider
		l, err := demo(t).Lower(t.Context(), op, nil)
		if err != nil || !l.Logical || l.Ruled || len(l.Request.Locks) > 0 || len(l.Request.Nodes) > 0 {
			t.Errorf("%s: %+v, %v", provider, l, err)
		}
	}
	for _, provider := range []string{"registry.terraform.io/acme/random", "registry.terraform.io/hashicorp/aws", "random", ""} {
		if ruleengine.Logical(provider) {
			t.Errorf("%q is taken for logical", provider)
		}
	}
}

func TestDigest(t *testing.T) {
	t.Parallel()
	e := demo(t)
	none := cty.NewPathSet()
	base := map[string]cty.Value{
		"name": cty.StringVal("a"), "size": cty.NumberIntVal(3), "on": cty.True,
		"tags": cty.MapVal(map[string]cty.Value{"k": cty.StringVal("v")}),
		"list": cty.ListVal([]cty.Value{cty.StringVal("x"), cty.StringVal("y")}),
	}
	with := func(name string, v cty.Value) cty.Value {
		attrs := map[string]cty.Value{}
		for key, value := range base {
			attrs[key] = value
		}
		attrs[name] = v
		return cty.ObjectVal(attrs)
	}
	want := e.Digest(cty.ObjectVal(base), none)
	seen := map[string]string{want: "base"}
	for name, v := range map[string]cty.Value{
		"another text": with("name", cty.StringVal("b")), "another number": with("size", cty.NumberFloatVal(3.5)),
		"another flag": with("on", cty.False), "a number for a text": with("name", cty.NumberIntVal(3)),
		"another order": with("list", cty.ListVal([]cty.Value{cty.StringVal("y"), cty.StringVal("x")})),
		"joined texts":  with("list", cty.ListVal([]cty.Value{cty.StringVal("xy")})),
		"another key":   with("tags", cty.MapVal(map[string]cty.Value{"l": cty.StringVal("v")})),
		"unknown":       with("name", cty.UnknownVal(cty.String)), "null": cty.NullVal(cty.EmptyObject), "absent": cty.NilVal,
		"empty list": with("list", cty.ListValEmpty(cty.String)), "more": with("extra", cty.StringVal("")),
	} {
		d := e.Digest(v, none)
		if other, same := seen[d]; same && !(name == "absent" || other == "absent") {
			t.Errorf("%s has the digest of %s", name, other)
		}
		seen[d] = name
	}
	nested := func(parts ...cty.Value) string { return e.Digest(with("list", cty.TupleVal(parts)), none) }
	a, b := cty.StringVal("a"), cty.StringVal("b")
	if nested(cty.TupleVal([]cty.Value{a}), b) == nested(cty.TupleVal([]cty.Value{a, b})) {
		t.Error("where a list ends is not in the digest")
	}
	if got := e.Digest(with("extra", cty.NullVal(cty.String)), none); got != want {
		t.Error("a null attribute changes the digest")
	}
	if got := e.Digest(cty.ObjectVal(base).Mark("x"), none); got != want {
		t.Error("a mark changes the digest")
	}
	secret := cty.NewPathSet(cty.GetAttrPath("name"), cty.GetAttrPath("tags").Index(cty.DynamicVal), cty.GetAttrPath("list").Index(cty.DynamicVal))
	one, two := with("name", cty.StringVal("pw1")), with("name", cty.StringVal("pw2"))
	if e.Digest(one, secret) != e.Digest(two, secret) {
		t.Error("a sensitive attribute is in the digest")
	}
	three := with("list", cty.ListVal([]cty.Value{cty.StringVal("p"), cty.StringVal("q")}))
	if e.Digest(cty.ObjectVal(base), secret) != e.Digest(three, secret) {
		t.Error("sensitive elements are in the digest")
	}
}

// What changes with other objects is in no digest, so that their changes are
// none of this one.
func TestVolatileAttributesAreInNoDigest(t *testing.T) {
	t.Parallel()
	none := cty.NewPathSet()
	shelf := func(boxes int64, places int64) cty.Value {
		return cty.ObjectVal(map[string]cty.Value{"id": cty.StringVal("s"), "boxes": cty.NumberIntVal(boxes), "places": cty.NumberIntVal(places)})
	}
	e := stock(t)
	if e.Digest(shelf(1, 5), none) != e.Digest(shelf(2, 5), none) {
		t.Error("a volatile attribute is in the digest")
	}
	if e.Digest(shelf(1, 5), none) == e.Digest(shelf(1, 6), none) {
		t.Error("another attribute is not in the digest")
	}
	op := stockOperation(t, "stock_shelf", "prior {\nid = \"s\"\n}")
	seen, ok, err := e.See(ruleengine.Object{Provider: op.Provider, ProviderConfig: op.ProviderConfig, Type: op.Type, State: shelf(3, 5), Sensitive: none})
	if err != nil || !ok || seen.Observation.Digest != e.Digest(shelf(4, 5), none) {
		t.Errorf("%+v, %v, %v", seen.Observation, ok, err)
	}
	for _, v := range []cty.Value{cty.NilVal, cty.DynamicVal, cty.NullVal(cty.EmptyObject), cty.StringVal("s"), shelf(1, 1).Mark("m")} {
		if e.Digest(v, none) == "" {
			t.Errorf("%#v has no digest", v)
		}
	}
}

func TestDoc(t *testing.T) {
	t.Parallel()
	e := demo(t)
	for rule, want := range map[string]string{
		"demo/demo_box.reference#lid":       "A lid of a box stays on (manual).",
		"demo/demo_clip.reference#box":      "demo_clip refers to a demo_box by box, which must stay there meanwhile.",
		"demo/demo_box.create#shelf":        "A heavy box moves its shelf.",
		"demo/demo_box.delete#friends":      `A delete of a demo_box takes edge("depends", "in")/~config.`,
		"demo/demo_box.update#zone":         "An update of a demo_box takes ancestor(2).",
		"demo/demo_box.delete#present":      "A delete of a demo_box needs realm to be present.",
		"demo/demo_box.create#self":         "A create of a demo_box takes the object itself.",
		"demo/demo_box.create#parent":       "A create of a demo_box needs the demo_shelf that contains it.",
		"demo/demo_box.create#widened":      "What contains the demo_box is not known yet, so the nearest known container is taken.",
		"demo/demo_box.delete#unreferenced": "A demo_box can be deleted only while nothing of others refers to it or lives in it.",
		"unruled/own_object":                "No rule knows the type; the operation takes only its own object.",
		"":                                  "", "demo/demo_box.create#nothing": "", "demo/demo_box.reference#nothing": "",
		"demo/demo_hat.create#x": "", "else/demo_box.create#self": "", "demo/demo_lid.create#x": "",
	} {
		if got := e.Doc(rule); got != want {
			t.Errorf("Doc(%q) = %q, want %q", rule, got, want)
		}
	}
}

func TestDocOfCapacity(t *testing.T) {
	t.Parallel()
	e := stock(t)
	for rule, want := range map[string]string{
		"stock/stock_box.consumes#floor":  "A box weighs on the floor of its room (scale).",
		"stock/stock_box.consumes#kind":   `A stock_box takes weight of object("stock_floor") as long as it is there.`,
		"stock/stock_box.consumes#places": "A stock_box takes places of parent as long as it is there.",
		"stock/stock_floor.bucket#weight": "A floor bears so much.",
		"stock/stock_seal.bucket#uses":    "A stock_seal has a bound on its uses.",
		"stock/stock_box.consumes#else":   "", "stock/stock_seal.bucket#else": "",
	} {
		if got := e.Doc(rule); got != want {
			t.Errorf("Doc(%q) = %q, want %q", rule, got, want)
		}
	}
}

func TestCloudID(t *testing.T) {
	t.Parallel()
	id := func(resourceType, src string) string {
		s, ok := demo(t).CloudID(operation(t, resourceType, src))
		if ok != (s != "") {
			t.Errorf("%q, %v", s, ok)
		}
		return s
	}
	if got := id("demo_box", "planned {\nid = unknown\nname = \"B\"\nshelf = \"Z/s\"\n}"); got != "Z/s/B" {
		t.Errorf("id = %q: the spelling is not the rule's own", got)
	}
	for _, c := range [][2]string{
		{"demo_box", "planned {\nid = unknown\nname = unknown\nshelf = \"Z/s\"\n}"},
		{"demo_hat", "planned {\nid = \"x\"\n}"},
		{"demo_lid", "planned {\nname = \"x\"\n}\nprovider {\n}"},
	} {
		if got := id(c[0], c[1]); got != "" {
			t.Errorf("%s: %q", c[0], got)
		}
	}
}
