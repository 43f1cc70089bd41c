// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package ruleengine

import (
	"fmt"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/core/mode"
)

// write is the label of an on block that stands for create, update and delete.
const write = "write"

func actions() []admission.Action {
	return []admission.Action{admission.Create, admission.Update, admission.Delete, admission.Read}
}

// actionsOf are the actions that the label of an on block means.
func actionsOf(label string) []admission.Action {
	if label == write {
		return []admission.Action{admission.Create, admission.Update, admission.Delete}
	}
	if slices.Contains(actions(), admission.Action(label)) {
		return []admission.Action{admission.Action(label)}
	}
	return nil
}

func (d *decoder) onBlock(r *resource, block *hcl.Block) {
	content := d.content(block.Body, &hcl.BodySchema{
		Attributes: []hcl.AttributeSchema{{Name: "writes"}},
		Blocks: []hcl.BlockHeaderSchema{
			{Type: "target", LabelNames: []string{"name"}},
			{Type: "guard", LabelNames: []string{"kind"}},
		},
	})
	doing := actionsOf(block.Labels[0])
	if doing == nil {
		allowed := []string{"create", "update", "delete", "read", write}
		d.fail(block.LabelRanges[0], "Unknown action", fmt.Sprintf("The label of an on block is one of %s.%s",
			quotedList(allowed), suggestion(block.Labels[0], allowed)))
		return
	}
	for _, action := range doing {
		before := len(d.diags)
		d.on(r, action, content)
		d.dropRepeated(before)
	}
}

// dropRepeated removes the diagnostics from position start on that were already
// given for an earlier action of the same block.
func (d *decoder) dropRepeated(start int) {
	for _, diag := range slices.Clone(d.diags[start:]) {
		i := slices.Index(d.diags[start:], diag) + start
		if slices.ContainsFunc(d.diags[:i], func(o *hcl.Diagnostic) bool { return sameProblem(o, diag) }) {
			d.diags = slices.Delete(d.diags, i, i+1)
		}
	}
}

func sameProblem(a, b *hcl.Diagnostic) bool {
	return a.Summary == b.Summary && a.Subject != nil && b.Subject != nil && *a.Subject == *b.Subject
}

// on adds what a block says to one action.
func (d *decoder) on(r *resource, action admission.Action, content *hcl.BodyContent) {
	ev := r.events[action]
	if ev == nil {
		ev = &event{}
		r.events[action] = ev
	}
	if attr := content.Attributes["writes"]; attr != nil {
		if ev.writes != "" {
			d.fail(attr.NameRange, "Duplicate writes", fmt.Sprintf("What %s writes is already said for %s. Keep one.", action, r.name))
		}
		ev.writes = d.facet(attr)
	}
	for _, b := range content.Blocks {
		if b.Type == "target" {
			ev.targets = append(ev.targets, d.targetBlock(r, action, b, ev.targets))
		} else {
			ev.guards = append(ev.guards, d.guardBlock(r, action, b))
		}
	}
}

func (d *decoder) targetBlock(r *resource, action admission.Action, block *hcl.Block, earlier []*target) *target {
	content := d.content(block.Body, &hcl.BodySchema{Attributes: append(metaAttributes(),
		hcl.AttributeSchema{Name: "node", Required: true}, hcl.AttributeSchema{Name: "facet"},
		hcl.AttributeSchema{Name: "mode", Required: true}, hcl.AttributeSchema{Name: "when"})})
	attrs := content.Attributes
	t := &target{name: block.Labels[0]}
	if slices.Contains(reservedNames(), t.name) || !identifier.MatchString(t.name) {
		d.fail(block.LabelRanges[0], "Invalid target name",
			fmt.Sprintf("A target's name has letters, digits, - and _, and is none of %s, which the default rules have.", quotedList(reservedNames())))
	}
	if slices.ContainsFunc(earlier, func(o *target) bool { return o.name == t.name }) {
		d.fail(block.DefRange, "Duplicate target", fmt.Sprintf("%s of %s already has a target %q. Give this one another name.", action, r.name, t.name))
	}
	t.node = d.node(r, attrs["node"])
	t.facet = d.facet(attrs["facet"])
	t.mode = d.mode(attrs["mode"], mode.X)
	t.when = d.condition(attrs["when"])
	t.meta = d.meta(attrs, d.ruleName(r, string(action), t.name), classInFlight)
	return t
}

func (d *decoder) guardBlock(r *resource, action admission.Action, block *hcl.Block) *guard {
	content := d.content(block.Body, &hcl.BodySchema{Attributes: append(metaAttributes(),
		hcl.AttributeSchema{Name: "node", Required: true}, hcl.AttributeSchema{Name: "when"})})
	g := &guard{kind: admission.GuardKind(block.Labels[0])}
	d.checkGuardKind(block, g.kind)
	g.node = d.node(r, content.Attributes["node"])
	g.when = d.condition(content.Attributes["when"])
	g.meta = d.meta(content.Attributes, d.ruleName(r, string(action), string(g.kind)), classGuard)
	return g
}

func (d *decoder) checkGuardKind(block *hcl.Block, kind admission.GuardKind) {
	switch kind {
	case admission.Present, admission.Unreferenced, admission.Version:
	case admission.SameLife:
		d.fail(block.LabelRanges[0], "Guard same_life is not for packs",
			"The incarnation that a plan was made on is known to the caller alone, which adds this guard to every update and delete. Remove the block.")
	default:
		allowed := []string{string(admission.Present), string(admission.Unreferenced), string(admission.Version)}
		d.fail(block.LabelRanges[0], "Unknown guard", fmt.Sprintf("A guard is one of %s.%s", quotedList(allowed), suggestion(string(kind), allowed)))
	}
}

func (d *decoder) condition(attr *hcl.Attribute) hcl.Expression {
	if attr == nil {
		return nil
	}
	return d.expression(attr.Expr, d.pure, operationRoots()...)
}
