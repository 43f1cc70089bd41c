// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package ruleengine

import (
	"fmt"
	"regexp"

	"github.com/hashicorp/hcl/v2"
	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/core/graph"
	"github.com/tfweaver/tfweaver/internal/core/mode"
	"github.com/zclconf/go-cty/cty"
)

// facetName is what a facet may be called; a slash would make it another node.
var facetName = regexp.MustCompile(`^[a-z][a-z0-9:_-]*$`)

func (d *decoder) resourceBlock(block *hcl.Block) {
	r := &resource{name: block.Labels[0], subject: block.DefRange, events: map[admission.Action]*event{}}
	if first, ok := d.pack.resources[r.name]; ok {
		d.fail(block.DefRange, "Duplicate rule", fmt.Sprintf("%s already has a rule at %s. Merge the two.", r.name, first.subject))
		return
	}
	if !identifier.MatchString(r.name) || r.name == parentRealm {
		d.fail(block.LabelRanges[0], "Invalid resource type", "The label is a resource type of the provider, such as example_subnet.")
	}
	d.pack.resources[r.name] = r
	content := d.content(block.Body, &hcl.BodySchema{
		Attributes: []hcl.AttributeSchema{
			{Name: "id", Required: true},
			{Name: "name"},
			{Name: "summary"},
			{Name: "known_after_create"},
			{Name: "import_id"},
			{Name: "volatile"},
			{Name: "terminal"},
			{Name: "lands"},
			{Name: "timeout"},
		},
		Blocks: []hcl.BlockHeaderSchema{
			{Type: "parent", LabelNames: []string{"type"}},
			{Type: "reference", LabelNames: []string{"name"}},
			{Type: "edge", LabelNames: []string{"name"}},
			{Type: "on", LabelNames: []string{"action"}},
			{Type: "consumes", LabelNames: []string{"name"}},
			{Type: "bucket", LabelNames: []string{"name"}},
			{Type: "error", LabelNames: []string{"name"}},
		},
	})
	d.identity(r, content)
	d.reading(r, content)
	for _, b := range content.Blocks.OfType("reference") {
		d.referenceBlock(r, b)
	}
	for _, b := range content.Blocks.OfType("edge") {
		d.edgeBlock(r, b)
	}
	for _, b := range content.Blocks.OfType("on") {
		d.onBlock(r, b)
	}
	for _, b := range content.Blocks.OfType("consumes") {
		d.consumesBlock(r, b)
	}
	for _, b := range content.Blocks.OfType("bucket") {
		d.bucketBlock(r, b)
	}
}

func (d *decoder) identity(r *resource, content *hcl.BodyContent) {
	attrs := content.Attributes
	r.summary = d.literal(attrs["summary"])
	if attr := attrs["id"]; attr != nil {
		r.id = d.expression(attr.Expr, d.pure, operationRoots()...)
	}
	if attr := attrs["name"]; attr != nil {
		r.label = d.expression(attr.Expr, d.pure, operationRoots()...)
	}
	if attr := attrs["known_after_create"]; attr != nil {
		r.knownAfterCreate = d.flag(attr)
	}
	block := d.single(content.Blocks, "parent")
	if block == nil {
		d.fail(r.subject, "Missing parent block", "Everything stands in something. Add parent \"type\" { id = ... }, or parent \"realm\" {}.")
		return
	}
	d.parentBlock(r, block)
}

func (d *decoder) parentBlock(r *resource, block *hcl.Block) {
	content := d.content(block.Body, &hcl.BodySchema{Attributes: []hcl.AttributeSchema{{Name: "id"}, {Name: "widen"}}})
	r.parent.kind = block.Labels[0]
	r.parent.widen = d.facet(content.Attributes["widen"])
	switch attr := content.Attributes["id"]; {
	case attr != nil:
		r.parent.id = d.expression(attr.Expr, d.pure, append(operationRoots(), rootID)...)
	case r.parent.kind != parentRealm:
		d.fail(block.DefRange, "Missing id of the parent", "Say how the parent's id follows from id or self, such as id = arm_parent(id).")
	}
}

func (d *decoder) referenceBlock(r *resource, block *hcl.Block) {
	content := d.content(block.Body, &hcl.BodySchema{Attributes: append(metaAttributes(),
		hcl.AttributeSchema{Name: "ids", Required: true}, hcl.AttributeSchema{Name: "type", Required: true},
		hcl.AttributeSchema{Name: "kind"}, hcl.AttributeSchema{Name: "mode"}, hcl.AttributeSchema{Name: "facets"})})
	attrs := content.Attributes
	ref := &reference{name: block.Labels[0], target: d.literal(attrs["type"])}
	for _, other := range r.references {
		if other.name == ref.name {
			d.fail(block.DefRange, "Duplicate reference", fmt.Sprintf("%s already has a reference %q. Give this one another name.", r.name, ref.name))
		}
	}
	if attr := attrs["ids"]; attr != nil {
		ref.ids = d.expression(attr.Expr, d.pure, operationRoots()...)
	}
	ref.kind = d.edgeKind(attrs["kind"])
	ref.mode = d.mode(attrs["mode"], mode.S)
	ref.facets = d.facets(attrs["facets"])
	ref.meta = d.meta(attrs, d.ruleName(r, partReference, ref.name), classDependency)
	r.references = append(r.references, ref)
}

func (d *decoder) edgeBlock(r *resource, block *hcl.Block) {
	content := d.content(block.Body, &hcl.BodySchema{Attributes: []hcl.AttributeSchema{
		{Name: "from", Required: true}, {Name: "to", Required: true}, {Name: "kind"},
	}})
	e := &edge{name: block.Labels[0], kind: d.edgeKind(content.Attributes["kind"])}
	e.from = d.node(r, content.Attributes["from"])
	e.to = d.node(r, content.Attributes["to"])
	for _, ref := range []nodeRef{e.from, e.to} {
		if ref.form == refEdge {
			d.fail(block.DefRange, "Invalid edge", "An edge joins the object, its ancestors and the targets of its references.")
		}
	}
	r.edges = append(r.edges, e)
}

// ruleName identifies a rule in reports.
func (d *decoder) ruleName(r *resource, part, name string) string {
	return ruleName(d.pack.name, r.name, part, name)
}

// node reads a node reference; a ref must name a reference of the type.
func (d *decoder) node(r *resource, attr *hcl.Attribute) nodeRef {
	if attr == nil {
		return nodeRef{}
	}
	ref, diags := parseNodeRef(attr.Expr)
	d.diags = append(d.diags, diags...)
	for part := &ref; part != nil; part = part.of {
		switch part.form {
		case refReference:
			d.checkReferenceName(r, attr, part.name)
		case refObject:
			d.fail(attr.Expr.Range(), "Invalid node", "object is for consumes only. Name the object by a reference block and ref. "+refHelp)
		}
	}
	return ref
}

func (d *decoder) checkReferenceName(r *resource, attr *hcl.Attribute, name string) {
	var names []string
	for _, ref := range r.references {
		if ref.name == name {
			return
		}
		names = append(names, ref.name)
	}
	d.fail(attr.Expr.Range(), "Unknown reference", fmt.Sprintf("%s has no reference block %q.%s", r.name, name, suggestion(name, names)))
}

func (d *decoder) edgeKind(attr *hcl.Attribute) graph.EdgeKind {
	var kinds []string
	for _, k := range edgeKinds() {
		kinds = append(kinds, string(k))
	}
	return graph.EdgeKind(d.oneOf(attr, string(graph.References), kinds))
}

func (d *decoder) mode(attr *hcl.Attribute, fallback mode.Mode) mode.Mode {
	m, err := mode.Parse(d.oneOf(attr, fallback.String(), []string{"IS", "IX", "S", "SIX", "X"}))
	if err != nil {
		return fallback
	}
	return m
}

func (d *decoder) facet(attr *hcl.Attribute) string {
	s := d.literal(attr)
	if attr != nil && !facetName.MatchString(s) {
		d.fail(attr.Expr.Range(), "Invalid facet", "A facet's name begins with a small letter and has only small letters, digits, and : _ -, such as \"slot:write\".")
	}
	return s
}

// facets reads a list of facets; the life of the target when there is none.
func (d *decoder) facets(attr *hcl.Attribute) []string {
	if attr == nil {
		return []string{graph.Life}
	}
	items, diags := hcl.ExprList(attr.Expr)
	d.diags = append(d.diags, diags...)
	if len(items) == 0 && !diags.HasErrors() {
		d.fail(attr.Expr.Range(), "No facets", "A reference holds at least one facet of its target. Leave the attribute out for the target's life.")
	}
	var names []string
	for _, item := range items {
		names = append(names, d.facet(&hcl.Attribute{Name: attr.Name, Expr: item}))
	}
	return names
}

func (d *decoder) flag(attr *hcl.Attribute) bool {
	v, diags := attr.Expr.Value(nil)
	if diags.HasErrors() || v.IsMarked() || !v.IsKnown() || v.IsNull() || v.Type() != cty.Bool {
		d.fail(attr.Expr.Range(), "Not true or false", attr.Name+" is true or false.")
		return false
	}
	return v.True()
}

func metaAttributes() []hcl.AttributeSchema {
	return []hcl.AttributeSchema{{Name: "class"}, {Name: "why"}, {Name: "source"}, {Name: "until"}, {Name: "confidence"}}
}

func (d *decoder) meta(attrs hcl.Attributes, rule, class string) meta {
	m := meta{rule: rule, why: d.literal(attrs["why"]), source: d.literal(attrs["source"])}
	m.class = d.oneOf(attrs["class"], class, classes())
	m.until = d.oneOf(attrs["until"], untilOperation, []string{untilCall, untilOperation})
	m.low = d.oneOf(attrs["confidence"], confidenceHigh, []string{confidenceHigh, confidenceLow}) == confidenceLow
	return m
}
