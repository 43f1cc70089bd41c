// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

// Package ruletest is for tests of rule packs: operations written by hand, a
// small live graph, and lock plans as text. No process is started.
package ruletest

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/core/graph"
	"github.com/tfweaver/tfweaver/internal/ruleengine"
	"github.com/zclconf/go-cty/cty"
)

// Parse reads an operation:
//
//	prior {
//	  id = "/x"
//	}
//	planned {
//	  id   = unknown
//	  name = "a"
//	}
//	provider {
//	  endpoint = "http://127.0.0.1:80"
//	}
//	sensitive = ["name"]
//
// The action follows from which states there are: without prior it is a
// create, without planned a delete. Attributes named by attributes and not set
// are null strings.
func Parse(src, resourceType string, attributes ...string) (ruleengine.Operation, error) {
	op := ruleengine.Operation{
		Type: resourceType, ProviderConfig: cty.NullVal(cty.DynamicPseudoType),
		Prior: cty.NullVal(cty.DynamicPseudoType), Planned: cty.NullVal(cty.DynamicPseudoType),
		Sensitive: cty.NewPathSet(),
	}
	file, diags := hclsyntax.ParseConfig([]byte(src), "operation", hcl.InitialPos)
	if diags.HasErrors() {
		return op, diags
	}
	content, diags := file.Body.Content(&hcl.BodySchema{
		Attributes: []hcl.AttributeSchema{{Name: "sensitive"}},
		Blocks:     []hcl.BlockHeaderSchema{{Type: "prior"}, {Type: "planned"}, {Type: "provider"}},
	})
	if diags.HasErrors() {
		return op, diags
	}
	for _, block := range content.Blocks {
		if err := set(&op, block, attributes); err != nil {
			return op, err
		}
	}
	if attr := content.Attributes["sensitive"]; attr != nil {
		v, diags := attr.Expr.Value(nil)
		if diags.HasErrors() {
			return op, diags
		}
		for _, name := range v.AsValueSlice() {
			op.Sensitive.Add(cty.GetAttrPath(name.AsString()))
		}
	}
	op.Action = action(op)
	return op, nil
}

func action(op ruleengine.Operation) admission.Action {
	switch {
	case op.Prior.IsNull():
		return admission.Create
	case op.Planned.IsNull():
		return admission.Delete
	default:
		return admission.Update
	}
}

func set(op *ruleengine.Operation, block *hcl.Block, attributes []string) error {
	v, err := object(block.Body)
	if err != nil {
		return err
	}
	if block.Type == "provider" {
		op.ProviderConfig = v
		return nil
	}
	attrs := v.AsValueMap()
	if attrs == nil {
		attrs = map[string]cty.Value{}
	}
	for _, name := range attributes {
		if _, ok := attrs[name]; !ok {
			attrs[name] = cty.NullVal(cty.String)
		}
	}
	if block.Type == "prior" {
		op.Prior = cty.ObjectVal(attrs)
	} else {
		op.Planned = cty.ObjectVal(attrs)
	}
	return nil
}

func object(body hcl.Body) (cty.Value, error) {
	attrs, diags := body.JustAttributes()
	if diags.HasErrors() {
		return cty.DynamicVal, diags
	}
	ctx := &hcl.EvalContext{Variables: map[string]cty.Value{"unknown": cty.UnknownVal(cty.String)}}
	out := map[string]cty.Value{}
	for name, attr := range attrs {
		v, diags := attr.Expr.Value(ctx)
		if diags.HasErrors() {
			return cty.DynamicVal, diags
		}
		out[name] = v
	}
	return cty.ObjectVal(out), nil
}

// Graph is a live graph of a few references. Every node it mentions is known
// and has the version 7.
type Graph struct {
	Nodes []graph.Decl
	Edges []graph.Edge
	// Err is the answer to every question, when set.
	Err error
}

// Version is the version of every node of a Graph.
const Version = 7

// Neighbours implements ruleengine.Graph.
func (g Graph) Neighbours(_ context.Context, id graph.NodeID, kind graph.EdgeKind, out bool) ([]graph.Decl, uint64, bool, error) {
	if g.Err != nil {
		return nil, 0, false, g.Err
	}
	var found []graph.Decl
	for _, e := range g.Edges {
		from, to := e.From, e.To
		if !out {
			from, to = to, from
		}
		if from == id && e.Kind == kind {
			found = append(found, g.decl(to))
		}
	}
	known := slices.ContainsFunc(g.Nodes, func(d graph.Decl) bool { return d.ID == id })
	return found, Version, known, nil
}

func (g Graph) decl(id graph.NodeID) graph.Decl {
	for _, d := range g.Nodes {
		if d.ID == id {
			return d
		}
	}
	return graph.Decl{ID: id, Kind: graph.Resource}
}

// Format writes a lock plan as text: the object, the locks with their rules,
// the guards, the edges and the notes. short replaces what is long in ids.
func Format(l ruleengine.Lowered, short *strings.Replacer) string {
	var b strings.Builder
	r := l.Request
	fmt.Fprintf(&b, "%s %s\n", r.Action, r.Self)
	for _, w := range r.Locks {
		line(&b, w.Mode.String(), string(w.Node), string(w.Relation), w.Rule, w.Class)
	}
	for _, g := range r.Guards {
		value := ""
		if g.Value > 0 {
			value = fmt.Sprintf("= %d", g.Value)
		}
		line(&b, "?", string(g.Kind), string(g.Node), value, g.Rule)
	}
	edges(&b, "edge", r.Edges)
	edges(&b, "edge+", r.AddEdges)
	edges(&b, "edge-", r.DropEdges)
	if r.KeepEdges {
		b.WriteString("edges stay\n")
	}
	for _, note := range l.Notes {
		line(&b, "note:", note)
	}
	return short.Replace(b.String())
}

func line(b *strings.Builder, words ...string) {
	words = slices.DeleteFunc(words, func(s string) bool { return s == "" })
	b.WriteString(strings.Join(words, " ") + "\n")
}

func edges(b *strings.Builder, what string, list []graph.Edge) {
	for _, e := range list {
		line(b, what, string(e.From), "-"+string(e.Kind)+"->", string(e.To))
	}
}

// Check says what is wrong with a request that no coordinator would take: a
// node that is named and not placed, one placed before its parent, a lock
// without the intentions above it, or a node named twice. Empty means nothing.
func Check(r admission.Request) string {
	placed := map[graph.NodeID]graph.Decl{}
	for _, d := range r.Nodes {
		if _, twice := placed[d.ID]; twice {
			return fmt.Sprintf("%s is placed twice", d.ID)
		}
		if _, ok := placed[d.Parent]; d.Parent != "" && !ok {
			return fmt.Sprintf("%s is placed before its parent %s", d.ID, d.Parent)
		}
		if (d.Kind == graph.Realm) != (d.Parent == "") {
			return fmt.Sprintf("%s: realms have no parent, all else has one", d.ID)
		}
		placed[d.ID] = d
	}
	for _, id := range named(r) {
		if _, ok := placed[id]; !ok {
			return fmt.Sprintf("%s is named and not placed", id)
		}
	}
	parent := func(id graph.NodeID) (graph.NodeID, bool) {
		up := placed[id].Parent
		return up, up != ""
	}
	if err := r.Locks.Validate(parent); err != nil {
		return err.Error()
	}
	return ""
}

// named are the nodes that a request names, sorted.
func named(r admission.Request) []graph.NodeID {
	ids := []graph.NodeID{r.Self}
	for _, w := range r.Locks {
		ids = append(ids, w.Node)
	}
	for _, g := range r.Guards {
		ids = append(ids, g.Node)
	}
	for _, list := range [][]graph.Edge{r.Edges, r.AddEdges, r.DropEdges} {
		for _, e := range list {
			ids = append(ids, e.From, e.To)
		}
	}
	slices.SortFunc(ids, func(a, b graph.NodeID) int { return cmp.Compare(a, b) })
	return slices.Compact(ids)
}
