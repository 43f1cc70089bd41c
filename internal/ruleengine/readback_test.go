// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package ruleengine_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tfweaver/tfweaver/internal/core/graph"
	"github.com/tfweaver/tfweaver/internal/ruleengine"
	"github.com/zclconf/go-cty/cty"
)

func account(name string) cty.Value {
	return cty.ObjectVal(map[string]cty.Value{"account": cty.StringVal(name)})
}

func TestReadBack(t *testing.T) {
	t.Parallel()
	e := stock(t)
	for node, want := range map[graph.Decl]ruleengine.Target{
		{ID: "stock:acme/floor-1", Kind: graph.Resource, Type: "stock_floor"}: {Provider: stockSource, Type: "stock_floor", ImportID: "floor-1"},
		{ID: "stock:acme/s", Kind: graph.Resource, Type: "stock_shelf"}:       {Provider: stockSource, Type: "stock_shelf", ImportID: "shelf:S"},
		{ID: "stock:acme/s/b", Kind: graph.Resource, Type: "stock_box"}:       {Provider: stockSource, Type: "stock_box", ImportID: "s/b"},
		// The cloud's own spelling of what the engine had to escape.
		{ID: "stock:acme/a/%7Eb", Kind: graph.Resource, Type: "stock_floor"}: {Provider: stockSource, Type: "stock_floor", ImportID: "a/~b"},
	} {
		got, err := e.ReadBack(stockSource, account("acme"), node)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", node.ID, err, diff)
		}
	}
}

// What is read back is what the rule lowered: the owner of every bucket, too.
func TestOwnersAreReadBack(t *testing.T) {
	t.Parallel()
	e := stock(t)
	l, err := e.Lower(t.Context(), stockOperation(t, "stock_box", box("planned", "room = \"R\"\nsize = \"small\"\nturns = 1\nseals = [\"x\"]")), nil)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, b := range l.Buckets {
		target, err := e.ReadBack(stockSource, account("acme"), b.Owner)
		if err != nil {
			target.ImportID = err.Error()
		}
		got[string(b.Key)] = target.ImportID
	}
	want := map[string]string{
		"stock:acme/floor-r#weight": "floor-r", "stock:acme/floor-r-light#weight": "floor-r-light",
		"stock:acme/s#places": "shelf:S", "stock:acme/x#uses": "stock:acme/x cannot be read back: a stock_seal cannot be imported",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestWhatCannotBeReadBack(t *testing.T) {
	t.Parallel()
	e := stock(t)
	floor := graph.Decl{ID: "stock:acme/f", Kind: graph.Resource, Type: "stock_floor"}
	with := func(change func(*graph.Decl)) graph.Decl {
		node := floor
		change(&node)
		return node
	}
	for name, c := range map[string]struct {
		provider string
		node     graph.Decl
		want     string
	}{
		"a name":                {stockSource, with(func(d *graph.Decl) { d.Kind = graph.Name }), "its id is not known, because the cloud chooses it"},
		"a pending node":        {stockSource, with(func(d *graph.Decl) { d.Kind = graph.Pending }), "its id is not known, because the cloud chooses it"},
		"a facet":               {stockSource, with(func(d *graph.Decl) { d.Kind = graph.Facet }), "it is a facet and no object"},
		"a realm":               {stockSource, with(func(d *graph.Decl) { d.Kind = graph.Realm }), "it is a realm and no object"},
		"no type":               {stockSource, with(func(d *graph.Decl) { d.Type = "" }), "its type is not known"},
		"another type":          {stockSource, with(func(d *graph.Decl) { d.Type = "stock_hat" }), `no rule of provider ` + stockSource + ` knows the type "stock_hat"`},
		"another provider":      {demoSource, floor, `no rule of provider ` + demoSource + ` knows the type "stock_floor"`},
		"another account":       {stockSource, with(func(d *graph.Decl) { d.ID = "stock:evil/f" }), "it is in another account than the provider works in"},
		"not importable":        {stockSource, with(func(d *graph.Decl) { d.Type = "stock_seal" }), "a stock_seal cannot be imported"},
		"an id that is none":    {stockSource, with(func(d *graph.Decl) { d.ID = "stock:acme/" }), "its id is not one of a stock_floor"},
		"an id with newlines":   {stockSource, with(func(d *graph.Decl) { d.ID = "stock:acme/a\nb" }), "its id is not one of a stock_floor"},
		"a spelling of its own": {stockSource, with(func(d *graph.Decl) { d.ID = "stock:acme/F" }), "its id is not one of a stock_floor"},
		"an id of another type": {stockSource, graph.Decl{ID: "stock:acme/", Kind: graph.Resource, Type: "stock_box"}, "its id is not one of a stock_box"},
		"nothing":               {stockSource, graph.Decl{}, "it is a  and no object"},
	} {
		target, err := e.ReadBack(c.provider, account("acme"), c.node)
		var no *ruleengine.UnreadableError
		if !errors.As(err, &no) || no.Reason != c.want || no.Node != c.node.ID || target != (ruleengine.Target{}) {
			t.Errorf("%s: %+v, %v, want %q", name, target, err, c.want)
		}
	}
	_, err := e.ReadBack(stockSource, account("acme"), with(func(d *graph.Decl) { d.Kind = graph.Pending }))
	if !errors.Is(err, ruleengine.ErrUnknown) {
		t.Errorf("a pending node: %v is not ErrUnknown", err)
	}
	var lost *ruleengine.RealmError
	if _, err := e.ReadBack(stockSource, cty.EmptyObjectVal, floor); !errors.As(err, &lost) {
		t.Errorf("without an account: %v", err)
	}
}

// An import id is what the pack makes of the id, or an error.
func TestImportIDsThatFail(t *testing.T) {
	t.Parallel()
	for expression, want := range map[string]string{
		`regex("^[0-9]+$", id)`: "pattern did not match",
		`"a${"\n"}b"`:           "control characters",
		`""`:                    "empty",
	} {
		e, diags := ruleengine.LoadPacks(packFS(strings.Replace(stockPack, "import_id = null", "import_id = "+expression, 1)))
		if diags.HasErrors() {
			t.Fatal(diags)
		}
		_, err := e.ReadBack(stockSource, account("acme"), graph.Decl{ID: "stock:acme/x", Kind: graph.Resource, Type: "stock_seal"})
		var no *ruleengine.UnreadableError
		if !errors.As(err, &no) || !strings.Contains(no.Reason, want) {
			t.Errorf("%s: %v, want %q", expression, err, want)
		}
	}
}
