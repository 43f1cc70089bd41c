// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package ruleengine

import (
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/tfweaver/tfweaver/internal/core/graph"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/gocty"
)

// nodeRef says which nodes a rule means, relative to the operation's object.
// It is read from the syntax of an expression and never evaluated:
//
//	self                          the object itself
//	parent                        what contains it; ancestor(1)
//	ancestor(n)                   n steps up
//	realm                         the account; also singleton(realm)
//	singleton(NODE)               NODE, for a facet of which there is one in that scope
//	ref("name")                   the targets of a reference
//	edge("kind", "in"|"out")      what refers to the object, or what it refers to, in the live graph
//	edge("kind", "in"|"out", NODE)
//	object("type", ids)           the objects of a type with an id; for consumes only
type nodeRef struct {
	form  refForm
	steps int            // ancestor
	name  string         // ref; for object, the type
	ids   hcl.Expression // object: one id or a collection of ids
	kind  graph.EdgeKind
	out   bool
	of    *nodeRef // edge; nil for the object itself
}

type refForm int

const (
	refSelf refForm = iota
	refAncestor
	refRealm
	refReference
	refEdge
	refObject
)

// maxSteps bounds ancestor(n); no cloud nests that deep.
const maxSteps = 16

const refHelp = `Use self, parent, ancestor(n), realm, singleton(realm), ref("reference name"), or edge("kind", "in" or "out").`

func parseNodeRef(x hcl.Expression) (nodeRef, hcl.Diagnostics) {
	if call, diags := hcl.ExprCall(x); !diags.HasErrors() {
		return parseNodeCall(call)
	}
	switch word := hcl.ExprAsKeyword(x); word {
	case "self":
		return nodeRef{form: refSelf}, nil
	case "parent":
		return nodeRef{form: refAncestor, steps: 1}, nil
	case "realm":
		return nodeRef{form: refRealm}, nil
	default:
		return nodeRef{}, badNodeRef(x.Range(), "This does not name a node.")
	}
}

func parseNodeCall(call *hcl.StaticCall) (nodeRef, hcl.Diagnostics) {
	args := call.Arguments
	bad := func(why string) (nodeRef, hcl.Diagnostics) { return nodeRef{}, badNodeRef(call.NameRange, why) }
	switch {
	case call.Name == "ancestor" && len(args) == 1:
		return parseAncestor(call)
	case call.Name == "singleton" && len(args) == 1:
		return parseNodeRef(args[0])
	case call.Name == "ref" && len(args) == 1:
		name, ok := literalString(args[0])
		if !ok {
			return bad("ref takes the name of a reference block as a quoted string.")
		}
		return nodeRef{form: refReference, name: name}, nil
	case call.Name == "object" && len(args) == 2:
		kind, ok := literalString(args[0])
		if !ok {
			return bad("object takes a resource type as a quoted string, and an id.")
		}
		return nodeRef{form: refObject, name: kind, ids: args[1]}, nil
	case call.Name == "edge" && (len(args) == 2 || len(args) == 3):
		return parseEdge(call)
	default:
		return bad(fmt.Sprintf("There is no node %s with %d arguments.", call.Name, len(args)))
	}
}

func parseAncestor(call *hcl.StaticCall) (nodeRef, hcl.Diagnostics) {
	var n int
	v, diags := call.Arguments[0].Value(nil)
	if diags.HasErrors() || v.IsMarked() || !v.IsKnown() || v.IsNull() || v.Type() != cty.Number ||
		gocty.FromCtyValue(v, &n) != nil || n < 1 || n > maxSteps {
		return nodeRef{}, badNodeRef(call.ArgsRange, fmt.Sprintf("ancestor takes a number of steps from 1 to %d.", maxSteps))
	}
	return nodeRef{form: refAncestor, steps: n}, nil
}

func parseEdge(call *hcl.StaticCall) (nodeRef, hcl.Diagnostics) {
	kind, okKind := literalString(call.Arguments[0])
	direction, okDirection := literalString(call.Arguments[1])
	if !okKind || !knownEdgeKind(graph.EdgeKind(kind)) {
		return nodeRef{}, badNodeRef(call.Arguments[0].Range(), "The first argument of edge is one of "+edgeKindList()+".")
	}
	if !okDirection || (direction != "in" && direction != "out") {
		return nodeRef{}, badNodeRef(call.Arguments[1].Range(), `The second argument of edge is "in" or "out".`)
	}
	ref := nodeRef{form: refEdge, kind: graph.EdgeKind(kind), out: direction == "out"}
	if len(call.Arguments) == 2 {
		return ref, nil
	}
	of, diags := parseNodeRef(call.Arguments[2])
	if diags.HasErrors() {
		return nodeRef{}, diags
	}
	if of.form == refEdge || of.form == refObject {
		return nodeRef{}, badNodeRef(call.Arguments[2].Range(), "An edge starts at self, an ancestor or a reference.")
	}
	ref.of = &of
	return ref, nil
}

// literalString is the value of a quoted string without interpolation.
func literalString(x hcl.Expression) (string, bool) {
	v, diags := x.Value(nil)
	if diags.HasErrors() || v.IsMarked() || !v.IsKnown() || v.IsNull() || v.Type() != cty.String {
		return "", false
	}
	return v.AsString(), true
}

func badNodeRef(at hcl.Range, why string) hcl.Diagnostics {
	return hcl.Diagnostics{problem(at, "Invalid node", why+" "+refHelp)}
}

func edgeKinds() []graph.EdgeKind {
	return []graph.EdgeKind{graph.Attaches, graph.Routes, graph.References, graph.Depends}
}

func knownEdgeKind(k graph.EdgeKind) bool {
	for _, known := range edgeKinds() {
		if k == known {
			return true
		}
	}
	return false
}

func edgeKindList() string {
	var quoted []string
	for _, k := range edgeKinds() {
		quoted = append(quoted, fmt.Sprintf("%q", string(k)))
	}
	return strings.Join(quoted, ", ")
}

// String is the reference as a pack spells it.
func (r nodeRef) String() string {
	switch r.form {
	case refAncestor:
		if r.steps == 1 {
			return "parent"
		}
		return fmt.Sprintf("ancestor(%d)", r.steps)
	case refRealm:
		return "realm"
	case refReference:
		return fmt.Sprintf("ref(%q)", r.name)
	case refEdge:
		return r.edgeString()
	case refObject:
		return fmt.Sprintf("object(%q)", r.name)
	default:
		return "self"
	}
}

func (r nodeRef) edgeString() string {
	direction, of := "in", ""
	if r.out {
		direction = "out"
	}
	if r.of != nil {
		of = ", " + r.of.String()
	}
	return fmt.Sprintf("edge(%q, %q%s)", string(r.kind), direction, of)
}
