// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package ruleengine_test

import (
	"strings"
	"testing"

	"github.com/tfweaver/tfweaver/internal/core/graph"
	"github.com/tfweaver/tfweaver/internal/ruleengine"
	"github.com/tfweaver/tfweaver/internal/ruleengine/ruletest"
)

// nearby is a live graph in which seal n depends on shelf s.
func nearby() ruletest.Graph {
	const root = "stock:acme/root"
	return ruletest.Graph{
		Nodes: []graph.Decl{
			{ID: "stock:acme/s", Parent: root, Kind: graph.Resource, Type: "stock_shelf"},
			{ID: "stock:acme/n", Parent: root, Kind: graph.Resource, Type: "stock_seal"},
		},
		Edges: []graph.Edge{{From: "stock:acme/n", To: "stock:acme/s", Kind: graph.Depends}},
	}
}

// TestLowConfidence: rules of low confidence take, guard, count and refer to
// nothing; what they would have asked for stands beside the request.
func TestLowConfidence(t *testing.T) {
	t.Parallel()
	l, err := stock(t).Lower(t.Context(), stockOperation(t, "stock_label", "planned {\nid = \"l\"\nshelf = \"s\"\n}"), nearby())
	if err != nil {
		t.Fatal(err)
	}
	if wrong := ruletest.Check(l); wrong != "" {
		t.Error(wrong)
	}
	check(t, ruletest.Format(l, strings.NewReplacer("stock:acme/", "A:", "stock/stock_", "")), `
		create A:l
		X A:l same label.create#self name
		IX A:root ancestor
		IS A:root/~wall rule label.create#wall in_flight
		edges stay
		shadow S A:n rule label.create#near in_flight
		shadow IX A:root ancestor
		shadow IX A:s ancestor
		shadow X A:s/~front rule label.create#shelf in_flight
		shadow S A:s/~life reference label.reference#shelf dependency
		shadow ? present A:s label.reference#shelf
		shadow ? version A:s = 7 label.create#near
		shadow ? present A:root label.create#present
		shadow +1 A:s#labels`)
	if len(l.Buckets) > 0 || len(l.Request.Guards) > 0 || len(l.Request.Effects) > 0 {
		t.Errorf("the request has buckets %v, guards %v, effects %v", l.Buckets, l.Request.Guards, l.Request.Effects)
	}
}

// A reference of low confidence keeps nothing from being deleted.
func TestLowConfidenceMakesNoEdges(t *testing.T) {
	t.Parallel()
	op := stockOperation(t, "stock_label", "prior {\nid = \"l\"\nshelf = \"s\"\nstate = \"ready\"\n}")
	seen, ok, err := stock(t).See(ruleengine.Object{Provider: op.Provider, ProviderConfig: op.ProviderConfig, Type: op.Type, State: op.Prior})
	if err != nil || !ok || seen.Observation.Edges != nil {
		t.Errorf("edges %v, %v, %v", seen.Observation.Edges, ok, err)
	}
	with := strings.Replace(stockPack, `  consumes "label" {`, `  reference "seal" {
    ids  = self.seals
    type = "stock_seal"
  }
  consumes "label" {`, 1)
	e, diags := ruleengine.LoadPacks(packFS(with))
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	// An unknown target of the doubtful reference does not spoil the other one.
	op = stockOperation(t, "stock_label", "planned {\nid = \"l\"\nshelf = unknown\nseals = [\"x\"]\n}")
	l, err := e.Lower(t.Context(), op, nil)
	want := graph.Edge{From: "stock:acme/l", To: "stock:acme/x", Kind: graph.References}
	if err != nil || l.Request.KeepEdges || len(l.Request.Edges) != 1 || l.Request.Edges[0] != want {
		t.Errorf("edges %v, kept %v, %v", l.Request.Edges, l.Request.KeepEdges, err)
	}
}

func TestNoShadowWithoutDoubt(t *testing.T) {
	t.Parallel()
	l, err := stock(t).Lower(t.Context(), stockOperation(t, "stock_box", box("planned", "turns = 1\nseals = [\"x\"]")), nil)
	if err != nil || !l.Shadow.Empty() || l.Shadow.Nodes != nil {
		t.Errorf("%+v, %v", l.Shadow, err)
	}
}

// A bucket that a certain and a doubtful rule count on is the certain one's.
func TestABucketOfTwoRules(t *testing.T) {
	t.Parallel()
	e, diags := ruleengine.LoadPacks(packFS(strings.Replace(stockPack, `  on "write" {`, `  consumes "sure" {
    of     = object("stock_shelf", self.shelf)
    bucket = "labels"
    amount = 2
  }
  on "write" {`, 1)))
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	l, err := e.Lower(t.Context(), stockOperation(t, "stock_label", "planned {\nid = \"l\"\nshelf = \"s\"\n}"), nil)
	if err != nil || len(l.Buckets) != 1 || l.Buckets[0].Rule != "stock/stock_label.consumes#sure" {
		t.Errorf("buckets %+v, %v", l.Buckets, err)
	}
	if l.Request.Effects.Amount("stock:acme/s#labels") != 2 || l.Shadow.Effects.Amount("stock:acme/s#labels") != 1 {
		t.Errorf("effects %v, shadow %v", l.Request.Effects, l.Shadow.Effects)
	}
}
