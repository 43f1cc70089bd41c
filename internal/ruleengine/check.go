// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package ruleengine

import (
	"fmt"
	"slices"
	"strings"

	"github.com/agext/levenshtein"
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
)

// The roots of what expressions can refer to.
const (
	rootSelf     = "self"
	rootPrior    = "prior"
	rootPlanned  = "planned"
	rootProvider = "provider"
	rootAction   = "action"
	rootLocal    = "local"
	rootRealm    = "realm"
	rootTable    = "table"
	rootID       = "id"
)

// operationRoots are the roots that rules about an operation see.
func operationRoots() []string {
	return []string{rootSelf, rootPrior, rootPlanned, rootProvider, rootAction, rootLocal, rootRealm, rootTable}
}

// objectRoots are the roots that rules about an object see which was read or
// whose id is known; id is its id.
func objectRoots() []string { return append(operationRoots(), rootID) }

// expression checks what an expression calls and refers to, and evaluates it
// once with nothing known, which finds wrong numbers and types of arguments.
// An expression with errors is returned all the same: nothing evaluates it.
func (d *decoder) expression(x hcl.Expression, funcs map[string]function.Function, roots ...string) hcl.Expression {
	before := len(d.diags)
	d.checkCalls(x, funcs)
	d.checkRoots(x, roots)
	if len(d.diags) == before {
		d.tryOut(x, funcs, roots)
	}
	return x
}

func (d *decoder) checkCalls(x hcl.Expression, funcs map[string]function.Function) {
	node, ok := x.(hclsyntax.Node)
	if !ok {
		return
	}
	d.diags = append(d.diags, hclsyntax.VisitAll(node, func(n hclsyntax.Node) hcl.Diagnostics {
		call, ok := n.(*hclsyntax.FunctionCallExpr)
		if !ok {
			return nil
		}
		if _, known := funcs[call.Name]; known {
			return nil
		}
		return hcl.Diagnostics{problem(call.NameRange, "Unknown function", unknownFunction(call.Name, funcs))}
	})...)
}

func unknownFunction(name string, funcs map[string]function.Function) string {
	if name == "env" {
		return "env can be called in locals and in the realm block only: what an operation means must not depend on where it is evaluated."
	}
	known := sortedKeys(funcs)
	return fmt.Sprintf("There is no function %s.%s The functions are %s.", name, suggestion(name, known), strings.Join(known, ", "))
}

func (d *decoder) checkRoots(x hcl.Expression, roots []string) {
	for _, traversal := range x.Variables() {
		root := traversal.RootName()
		if slices.Contains(roots, root) {
			switch root {
			case rootLocal:
				d.checkLocal(traversal)
			case rootTable:
				d.checkTable(traversal)
			}
			continue
		}
		d.fail(traversal.SourceRange(), "Unknown variable",
			fmt.Sprintf("There is no %q here.%s Expressions of this place can use %s.", root, suggestion(root, roots), strings.Join(roots, ", ")))
	}
}

func (d *decoder) checkLocal(traversal hcl.Traversal) {
	if len(traversal) < 2 {
		return
	}
	step, ok := traversal[1].(hcl.TraverseAttr)
	if !ok {
		return
	}
	var names []string
	for _, l := range d.pack.locals {
		names = append(names, l.name)
	}
	if d.pack.name != "" && !slices.Contains(names, step.Name) {
		d.fail(step.SrcRange, "Unknown local", fmt.Sprintf("The pack has no local %q.%s Define it in the locals block of the pack block.",
			step.Name, suggestion(step.Name, names)))
	}
}

// tryOut evaluates an expression with nothing known.
func (d *decoder) tryOut(x hcl.Expression, funcs map[string]function.Function, roots []string) {
	vars := map[string]cty.Value{}
	for _, root := range roots {
		vars[root] = cty.DynamicVal
	}
	for _, root := range []string{rootID, rootAction} {
		if _, ok := vars[root]; ok {
			vars[root] = cty.UnknownVal(cty.String)
		}
	}
	if _, ok := vars[rootTable]; ok {
		vars[rootTable] = d.pack.tables
	}
	_, diags := x.Value(&hcl.EvalContext{Variables: vars, Functions: funcs})
	d.diags = append(d.diags, diags...)
}

// checkTypes finds types that are named and have no rule, and containment that
// does not end in the realm.
func (d *decoder) checkTypes() {
	p := d.pack
	types := sortedKeys(p.resources)
	for _, name := range types {
		r := p.resources[name]
		if _, ok := p.resources[r.parent.kind]; !ok && r.parent.kind != parentRealm {
			d.fail(r.subject, "Unknown parent type", fmt.Sprintf("%s stands in %q, for which the pack has no rule.%s Add one, or write parent \"realm\".",
				name, r.parent.kind, suggestion(r.parent.kind, types)))
		}
		for _, ref := range r.references {
			if _, ok := p.resources[ref.target]; !ok {
				d.fail(r.subject, "Unknown reference type", fmt.Sprintf("Reference %q of %s is to %q, for which the pack has no rule.%s",
					ref.name, name, ref.target, suggestion(ref.target, types)))
			}
		}
	}
	if !d.diags.HasErrors() {
		d.checkDepths(types)
	}
	if !d.diags.HasErrors() {
		d.checkBuckets(types)
	}
}

func (d *decoder) checkDepths(types []string) {
	for _, name := range types {
		r := d.pack.resources[name]
		depth, ok := d.pack.depth(name)
		if !ok {
			d.fail(r.subject, "Containment has a cycle", fmt.Sprintf("Going up from %s never reaches the realm. Correct the parent blocks.", name))
			continue
		}
		for _, ref := range r.nodeRefs() {
			if ref.form == refAncestor && ref.steps > depth {
				d.fail(r.subject, "No such ancestor", fmt.Sprintf("%s has %d nodes above it, so there is no %s.", name, depth, ref))
			}
		}
	}
}

// depth counts the nodes above an object of a type, the realm included.
func (p *pack) depth(name string) (int, bool) {
	for n := 1; n <= maxSteps; n++ {
		r := p.resources[name]
		if r == nil || r.parent.kind == parentRealm {
			return n, true
		}
		name = r.parent.kind
	}
	return 0, false
}

// nodeRefs lists every node that the rule names.
func (r *resource) nodeRefs() []nodeRef {
	var refs []nodeRef
	add := func(ref nodeRef) {
		refs = append(refs, ref)
		if ref.of != nil {
			refs = append(refs, *ref.of)
		}
	}
	for _, c := range r.consumes {
		add(c.of)
	}
	for _, e := range r.edges {
		add(e.from)
		add(e.to)
	}
	for _, ev := range r.events {
		for _, t := range ev.targets {
			add(t.node)
		}
		for _, g := range ev.guards {
			add(g.node)
		}
	}
	return refs
}

// suggestion names the closest of the known words, empty when none is close.
func suggestion(word string, known []string) string {
	best, distance := "", 3
	for _, k := range known {
		if n := levenshtein.Distance(word, k, nil); n < distance {
			best, distance = k, n
		}
	}
	if best == "" || word == "" {
		return ""
	}
	return fmt.Sprintf(" Did you mean %q?", best)
}

func quotedList(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = fmt.Sprintf("%q", w)
	}
	return strings.Join(quoted, ", ")
}
