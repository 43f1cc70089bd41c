// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package ruleengine_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/core/escrow"
	"github.com/tfweaver/tfweaver/internal/core/graph"
	"github.com/tfweaver/tfweaver/internal/ruleengine"
	"github.com/zclconf/go-cty/cty"
)

// box writes a state of a box on shelf s in room r, with some attributes more.
func box(which, more string) string {
	return which + " {\nid = \"s/b\"\nname = \"b\"\nshelf = \"s\"\n" + more + "\n}\n"
}

func TestEffectsOnCapacity(t *testing.T) {
	t.Parallel()
	const (
		small = "room = \"r\"\nsize = \"small\"\nturns = 2"
		large = "room = \"r\"\nsize = \"large\"\nturns = 2"
	)
	for name, c := range map[string]struct{ src, want string }{
		"a create takes": {box("planned", large), `
			+1 A:s#places box.consumes#places
			+8 A:floor-r#weight box.consumes#floor
			+8 A:floor-r-heavy#weight box.consumes#kind`},
		"a delete gives back": {box("prior", large+"\nseals = [\"x\"]"), `
			-1 A:s#places box.consumes#places
			-8 A:floor-r#weight box.consumes#floor
			-8 A:floor-r-heavy#weight box.consumes#kind
			-2 A:x#uses box.consumes#seal`},
		"an update changes by the difference": {box("prior", large+"\nseals = [\"x\", \"y\"]") + box("planned", small+"\nseals = [\"Y\", \"z\"]"), `
			+1 A:floor-r-light#weight box.consumes#kind
			+2 A:z#uses box.consumes#seal
			-2 A:x#uses box.consumes#seal
			-7 A:floor-r#weight box.consumes#floor
			-8 A:floor-r-heavy#weight box.consumes#kind`},
		"of each owner the amount that it had": {box("prior", "turns = 2\nseals = [\"x\"]") + box("planned", "turns = 3\nseals = [\"x\", \"y\"]"), `
			+1 A:x#uses box.consumes#seal
			+3 A:y#uses box.consumes#seal
			note: capacity floor is left out: ERROR
			note: capacity kind is left out: ERROR`},
		"what stays is no effect": {box("prior", large+"\nseals = [\"x\"]") + box("planned", large+"\nseals = [\"X\", \"x\"]"), ``},
		"moved": {box("prior", small) + box("planned", strings.Replace(small, `"r"`, `"q"`, 1)), `
			+1 A:floor-q#weight box.consumes#floor
			+1 A:floor-q-light#weight box.consumes#kind
			-1 A:floor-r#weight box.consumes#floor
			-1 A:floor-r-light#weight box.consumes#kind`},
		"zero": {box("prior", "room = \"r\"\nsize = \"small\"\nturns = 0\nseals = [\"x\"]"), `
			-1 A:floor-r#weight box.consumes#floor
			-1 A:floor-r-light#weight box.consumes#kind
			-1 A:s#places box.consumes#places`},
	} {
		got := mask(stockPlan(t, stockOperation(t, "stock_box", c.src), nil, "+", "-", "note: capacity"))
		if want := lines(c.want); sorted(got) != sorted(want) {
			t.Errorf("%s:\n%swant:\n%s", name, got, want)
		}
	}
}

// TestCapacityThatCannotBeTold: what is not known, secret, absent or wrong is
// left out with the reason, and so is the other side where both may be equal.
func TestCapacityThatCannotBeTold(t *testing.T) {
	t.Parallel()
	const known = "room = \"r\"\nsize = \"small\"\nturns = 2\nseals = [\"x\"]"
	with := func(name, value string) string {
		var out []string
		for line := range strings.SplitSeq(known, "\n") {
			if strings.HasPrefix(line, name+" ") {
				line = name + " = " + value
			}
			out = append(out, line)
		}
		return strings.Join(out, "\n")
	}
	floors := "+1 A:floor-r#weight box.consumes#floor\n+1 A:floor-r-light#weight box.consumes#kind\n"
	place := "+1 A:s#places box.consumes#places\n"
	seal := "+2 A:x#uses box.consumes#seal\n"
	const (
		unknown   = ": the value is not known yet\n"
		sensitive = ": the value is sensitive\n"
	)
	left := func(name, why string) string { return "note: capacity " + name + " is left out" + why }
	for name, c := range map[string]struct{ src, want string }{
		"an amount that is not known": {box("planned", with("turns", "unknown")), floors + place + left("seal", unknown)},
		"a sensitive amount":          {box("planned", known) + "sensitive = [\"turns\"]", floors + place + left("seal", sensitive)},
		"no amount":                   {box("planned", with("turns", "null")), floors + place + left("seal", ": the value is null\n")},
		"a key of a table":            {box("planned", with("size", "unknown")), place + seal + left("floor", unknown) + left("kind", unknown)},
		"a sensitive key of a table":  {box("planned", known) + "sensitive = [\"size\"]", place + seal + left("floor", sensitive) + left("kind", sensitive)},
		"a key that is in no table":   {box("planned", with("size", `"huge"`)), place + seal + left("floor", ": ERROR\n") + left("kind", ": ERROR\n")},
		"an owner that is not known":  {box("planned", with("room", "unknown")), place + seal + left("floor", unknown) + left("kind", unknown)},
		"a sensitive owner":           {box("planned", known) + "sensitive = [\"room\"]", place + seal + left("floor", sensitive) + left("kind", sensitive)},
		"no owner":                    {box("planned", with("seals", "null")), floors + place},
		"one of two owners":           {box("planned", with("seals", `["x", unknown]`)), floors + place + seal + left("seal", unknown)},
		"owners that are no ids":      {box("planned", with("seals", `["x", {}]`)), floors + place + seal + left("seal", ": the reference is not usable\n")},
		"a parent that is not known":  {"planned {\nid = unknown\nname = \"b\"\nshelf = unknown\n" + known + "\n}\n", floors + seal + left("places", unknown)},
		"a fraction":                  {box("planned", with("turns", "1.5")), floors + place + left("seal", ": ERROR\n")},
		"less than nothing":           {box("planned", with("turns", "-1")), floors + place + left("seal", ": ERROR\n")},
		"too much":                    {box("planned", with("turns", "1099511627777")), floors + place + left("seal", ": ERROR\n")},
		"as much as there may be":     {box("planned", with("turns", "1099511627776")), floors + place + "+1099511627776 A:x#uses box.consumes#seal\n"},
		"no number":                   {box("planned", with("turns", `"many"`)), floors + place + left("seal", ": ERROR\n")},
		"a number as text":            {box("planned", with("turns", `"2"`)), floors + place + seal},
		// The unknown seal may be the one that was there before.
		"what may be kept is not freed": {box("prior", known) + box("planned", with("seals", `["y", unknown]`)), "+2 A:y#uses box.consumes#seal\n" + left("seal", unknown)},
		// The amount may stay as it is.
		"an amount that may stay": {box("prior", known) + box("planned", with("turns", "unknown")), left("seal", unknown)},
		// The secret seal may be the one that is there afterwards.
		"what may have been had is not taken": {box("prior", with("seals", "unknown")) + box("planned", known), left("seal", unknown)},
	} {
		got := mask(stockPlan(t, stockOperation(t, "stock_box", c.src), nil, "+", "-", "note: capacity"))
		if sorted(got) != sorted(c.want) {
			t.Errorf("%s:\n%swant:\n%s", name, got, c.want)
		}
	}
}

// mask replaces the reason that an expression gives.
func mask(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if head, _, failed := strings.Cut(line, ": rule for "); failed {
			line = head + ": ERROR\n"
		}
		b.WriteString(line)
	}
	return b.String()
}

func lines(text string) string {
	var b strings.Builder
	for line := range strings.SplitSeq(text, "\n") {
		if line = strings.TrimSpace(line); line != "" {
			b.WriteString(line + "\n")
		}
	}
	return b.String()
}

func sorted(text string) string {
	list := strings.Split(text, "\n")
	slices.Sort(list)
	return strings.Join(list, "\n")
}

// A state of which nothing is known leaves everything out.
func TestCapacityOfAnUnknownState(t *testing.T) {
	t.Parallel()
	op := stockOperation(t, "stock_box", box("planned", ""))
	op.Planned = cty.DynamicVal
	got := stockPlan(t, op, nil, "+", "-", "note: capacity")
	if strings.Contains(got, "#") || strings.Count(got, "not known yet") != 4 {
		t.Error(got)
	}
}

// The amount of a secret size is not in any text.
func TestASecretAmountStaysSecret(t *testing.T) {
	t.Parallel()
	op := stockOperation(t, "stock_box", box("planned", "room = \"r\"\nsize = \"small\"\nturns = 77731\nseals = [\"x\"]")+"sensitive = [\"turns\", \"size\"]")
	l, err := stock(t).Lower(t.Context(), op, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range append(l.Notes, keysOf(l.Request.Effects)...) {
		if strings.Contains(text, "77731") || strings.Contains(text, "light") {
			t.Error(text)
		}
	}
	op = stockOperation(t, "stock_box", box("planned", "turns = \"77731.5\"\nseals = [\"x\"]")+"sensitive = [\"turns\"]")
	if l, err = stock(t).Lower(t.Context(), op, nil); err != nil || strings.Contains(strings.Join(l.Notes, ""), "77731") {
		t.Error(l.Notes, err)
	}
}

func keysOf(effects escrow.Effects) []string {
	var keys []string
	for _, e := range effects {
		keys = append(keys, string(e.Bucket))
	}
	return keys
}

// Whose read tells a bucket is in the lowered operation, placed in the graph.
func TestOwnersOfBuckets(t *testing.T) {
	t.Parallel()
	l, err := stock(t).Lower(t.Context(), stockOperation(t, "stock_box", box("planned", "turns = 1\nseals = [\"x\"]")), nil)
	if err != nil {
		t.Fatal(err)
	}
	want := []ruleengine.Bucket{
		{Key: "stock:acme/s#places", Owner: graph.Decl{ID: "stock:acme/s", Parent: "stock:acme/root", Kind: graph.Resource, Type: "stock_shelf"}, Rule: "stock/stock_box.consumes#places"},
		{Key: "stock:acme/x#uses", Owner: graph.Decl{ID: "stock:acme/x", Parent: "stock:acme/root", Kind: graph.Resource, Type: "stock_seal"}, Rule: "stock/stock_box.consumes#seal"},
	}
	if diff := cmp.Diff(want, l.Buckets); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestAReadTakesNoCapacity(t *testing.T) {
	t.Parallel()
	op := stockOperation(t, "stock_box", box("prior", "room = \"r\"\nsize = \"small\"")+box("planned", "room = \"r\"\nsize = \"large\""))
	op.Action = admission.Read
	if got := stockPlan(t, op, nil, "+", "-", "note"); got != "" {
		t.Error(got)
	}
}

// Effects that no coordinator would take are an error and no request.
func TestEffectsBeyondAllBounds(t *testing.T) {
	t.Parallel()
	src := strings.Replace(stockPack, `consumes "kind" {`, `consumes "again" {
    of     = ref("seal")
    bucket = "uses"
    amount = self.turns
  }
  consumes "kind" {`, 1)
	e, diags := ruleengine.LoadPacks(packFS(src))
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	op := stockOperation(t, "stock_box", box("planned", "turns = 1099511627776\nseals = [\"x\"]"))
	if _, err := e.Lower(t.Context(), op, nil); err == nil || !strings.Contains(err.Error(), "2199023255552") {
		t.Errorf("twice the largest amount: %v", err)
	}
}

// An object that has no id yet has no bucket either.
func TestOwnBucketBeforeTheIDIsKnown(t *testing.T) {
	t.Parallel()
	e, diags := ruleengine.LoadPacks(packFS(thing(`
  name = self.name
  bucket "pages" {
    limit = 5
  }
  consumes "pages" {
    of     = self
    amount = 1
  }`)))
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	for id, want := range map[string][]string{"cty": {"p:cty#pages"}, "": nil} {
		op := stockOperation(t, "demo_thing", "planned {\nid = "+map[bool]string{true: "unknown", false: `"` + id + `"`}[id == ""]+"\nname = \"n\"\n}")
		op.Provider = demoSource
		l, err := e.Lower(t.Context(), op, nil)
		if diff := cmp.Diff(want, keysOf(l.Request.Effects)); diff != "" || err != nil {
			t.Errorf("%q: %v, notes %q (-want +got):\n%s", id, err, l.Notes, diff)
		}
	}
}
