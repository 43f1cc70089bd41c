// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

// Package ruletest is for tests of rule packs: operations written by hand, a
// small live graph, and lock plans as text. No process is started.
package ruletest

import (
	"context"
	"slices"

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
