// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package ruleengine

import (
	"fmt"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
)

// tables decodes the constants of a pack.
func (d *decoder) tables(blocks hcl.Blocks) {
	rows := map[string]cty.Value{}
	places := map[string]hcl.Range{}
	for _, block := range blocks {
		name := block.Labels[0]
		if first, ok := places[name]; ok {
			d.fail(block.DefRange, "Duplicate table", fmt.Sprintf("There is already a table %q at %s. Give this one another name.", name, first))
		}
		if !identifier.MatchString(name) {
			d.fail(block.LabelRanges[0], "Invalid table name", "A table's name begins with a letter and has only letters, digits, - and _.")
		}
		places[name] = block.DefRange
		rows[name] = d.rows(block)
	}
	d.pack.tables = cty.ObjectVal(rows)
}

// rows are the constants of one table by their keys.
func (d *decoder) rows(block *hcl.Block) cty.Value {
	content := d.content(block.Body, &hcl.BodySchema{Attributes: []hcl.AttributeSchema{
		{Name: "rows", Required: true}, {Name: "why"}, {Name: "source"},
	}})
	d.literal(content.Attributes["why"])
	d.literal(content.Attributes["source"])
	attr := content.Attributes["rows"]
	if attr == nil {
		return cty.DynamicVal
	}
	v, diags := attr.Expr.Value(&hcl.EvalContext{Functions: d.pure})
	d.diags = append(d.diags, diags...)
	if diags.HasErrors() {
		return cty.DynamicVal
	}
	v, ok := asMap(v)
	if !ok {
		d.fail(attr.Expr.Range(), "Invalid rows", "rows has at least one row, and all rows have the same columns: { small = { cores = 2 }, large = { cores = 8 } }.")
		return cty.DynamicVal
	}
	return v
}

// asMap makes a map of rows that are all of one type. A map keeps the secrecy of
// a key that is looked up in it, which an object does not.
func asMap(v cty.Value) (cty.Value, bool) {
	if v.ContainsMarked() || !v.IsWhollyKnown() || v.IsNull() || !v.CanIterateElements() || v.LengthInt() == 0 {
		return v, false
	}
	if !v.Type().IsObjectType() && !v.Type().IsMapType() {
		return v, false
	}
	var row cty.Type
	for _, element := range v.AsValueMap() {
		if row == cty.NilType {
			row = element.Type()
		}
		if !element.Type().Equals(row) {
			return v, false
		}
	}
	return cty.MapVal(v.AsValueMap()), true
}

func (d *decoder) checkTable(traversal hcl.Traversal) {
	if len(traversal) < 2 {
		return
	}
	step, ok := traversal[1].(hcl.TraverseAttr)
	if !ok || d.pack.tables.Type().HasAttribute(step.Name) {
		return
	}
	var names []string
	for name := range d.pack.tables.Type().AttributeTypes() {
		names = append(names, name)
	}
	slices.Sort(names)
	d.fail(step.SrcRange, "Unknown table", fmt.Sprintf("The pack has no table %q.%s Add table %q { rows = ... }.", step.Name, suggestion(step.Name, names), step.Name))
}
