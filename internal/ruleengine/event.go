// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package ruleengine

import (
	"context"
	"errors"
	"fmt"

	"github.com/hashicorp/hcl/v2"
	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/core/graph"
	"github.com/tfweaver/tfweaver/internal/core/lock"
)

// bothSides asks for what a reference meant before and what it will mean.
func bothSides() []side { return []side{after, before} }

// event applies what the pack says about the action beyond the defaults.
func (d *draft) event(ctx context.Context) error {
	ev := d.rule.events[d.op.Action]
	if ev == nil {
		return nil
	}
	for _, t := range ev.targets {
		if err := d.takeTarget(ctx, t); err != nil {
			return err
		}
	}
	for _, g := range ev.guards {
		if err := d.takeGuard(ctx, g); err != nil {
			return err
		}
	}
	return nil
}

func (d *draft) takeTarget(ctx context.Context, t *target) error {
	if ok, err := d.applies(t.when, "target "+t.name); !ok || err != nil {
		return err
	}
	nodes, err := d.resolve(ctx, t.node, bothSides(), t.meta)
	if err != nil {
		return err
	}
	p := d.part(t.meta)
	for _, c := range nodes {
		node := p.nodes.facet(p.nodes.add(c), t.facet)
		p.want(node, t.mode, d.relation(t.node), t.meta.rule, t.meta.class)
	}
	return nil
}

// relation says how a report describes a node that a rule names.
func (d *draft) relation(ref nodeRef) lock.Relation {
	if ref.form == refSelf {
		return lock.Same
	}
	return lock.Rule
}

func (d *draft) takeGuard(ctx context.Context, g *guard) error {
	if ok, err := d.applies(g.when, "guard "+string(g.kind)); !ok || err != nil {
		return err
	}
	nodes, err := d.resolve(ctx, g.node, []side{after}, g.meta)
	if err != nil {
		return err
	}
	p := d.part(g.meta)
	for _, c := range nodes {
		node := p.nodes.add(c)
		if g.kind == admission.Version {
			err = d.guardVersion(ctx, node, g.meta)
		} else {
			p.guard(admission.Guard{Kind: g.kind, Node: node, Rule: g.meta.rule})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// guardVersion pins a node to the version it has now.
func (d *draft) guardVersion(ctx context.Context, node graph.NodeID, m meta) error {
	if d.graph == nil {
		d.note(fmt.Sprintf("the version of %s is not guarded: the live graph was not asked", node))
		return nil
	}
	_, version, known, err := d.graph.Neighbours(ctx, node, graph.References, true)
	if err != nil {
		return fmt.Errorf("ask the graph about %s: %w", node, err)
	}
	if known {
		d.part(m).guard(admission.Guard{Kind: admission.Version, Node: node, Value: version, Rule: m.rule})
	}
	return nil
}

// applies evaluates a condition. One that cannot be told holds, and is noted.
func (d *draft) applies(when hcl.Expression, what string) (bool, error) {
	ok, err := d.scope.holds(when)
	if withheld(err) || errors.Is(err, ErrNull) {
		d.note(fmt.Sprintf("the condition of %s cannot be told (%v): it is taken to hold", what, err))
		err = nil
	}
	return ok, err
}

// resolve finds the nodes that a node reference means. What is not known is
// left out: references were noted, ancestors are covered by widening.
func (d *draft) resolve(ctx context.Context, ref nodeRef, sides []side, m meta) ([]chain, error) {
	switch ref.form {
	case refSelf:
		return []chain{d.subject.chain()}, nil
	case refAncestor:
		return d.ancestor(ref.steps), nil
	case refRealm:
		return []chain{d.subject.above[len(d.subject.above)-1:]}, nil
	case refReference:
		return d.referenceTargets(ref.name, sides), nil
	default:
		return d.neighbours(ctx, ref, sides, m)
	}
}

func (d *draft) ancestor(steps int) []chain {
	at := steps - 1 - d.subject.missing
	if at < 0 || at >= len(d.subject.above) {
		return nil
	}
	return []chain{d.subject.above[at:]}
}

func (d *draft) referenceTargets(name string, sides []side) []chain {
	var found []chain
	for _, r := range d.refs {
		if r.rule.name != name {
			continue
		}
		for _, on := range sides {
			for _, c := range r.targets[on] {
				if !containsChain(found, c) {
					found = append(found, c)
				}
			}
		}
	}
	return found
}

// neighbours asks the live graph, and guards the versions that the answers
// belong to: a lock plan made on an older graph would be incomplete.
func (d *draft) neighbours(ctx context.Context, ref nodeRef, sides []side, m meta) ([]chain, error) {
	of := nodeRef{form: refSelf}
	if ref.of != nil {
		of = *ref.of
	}
	bases, err := d.resolve(ctx, of, sides, m)
	if err != nil {
		return nil, err
	}
	var found []chain
	for _, base := range bases {
		next, err := d.neighboursOf(ctx, base, ref, m)
		if err != nil {
			return nil, err
		}
		found = append(found, next...)
	}
	return found, nil
}

func (d *draft) neighboursOf(ctx context.Context, base chain, ref nodeRef, m meta) ([]chain, error) {
	if d.graph == nil {
		d.note(fmt.Sprintf("%s is left out: the live graph was not asked", ref))
		return nil, nil
	}
	node := base[0].ID
	decls, version, known, err := d.graph.Neighbours(ctx, node, ref.kind, ref.out)
	if err != nil {
		return nil, fmt.Errorf("ask the graph about %s: %w", node, err)
	}
	if !known {
		return nil, nil
	}
	p := d.part(m)
	p.guard(admission.Guard{Kind: admission.Version, Node: p.nodes.add(base), Value: version, Rule: m.rule})
	var found []chain
	for _, decl := range decls {
		c, err := d.reached(decl)
		if err != nil {
			d.note(fmt.Sprintf("%s, reached over %s, is left out: %v", decl.ID, ref, err))
			continue
		}
		found = append(found, c)
	}
	return found, nil
}

// reached places a node that the graph named.
func (a account) reached(decl graph.Decl) (chain, error) {
	r, ok := a.pack.resources[decl.Type]
	if !ok {
		return nil, fmt.Errorf("no rule places a node of type %q", decl.Type)
	}
	id, ok := a.cloudID(decl.ID)
	if !ok {
		return nil, fmt.Errorf("it is in another account")
	}
	return a.locate(r, id)
}

// edges writes down the references that the object will have, and those of
// others that it stands for.
func (d *draft) edges(ctx context.Context) error {
	if d.op.Action == admission.Read {
		d.request.KeepEdges = true
		return nil
	}
	known, complete := d.outgoing()
	switch {
	case d.op.Action == admission.Delete:
	case !d.rule.refers():
		// Others may have given the object references it does not know of.
		d.request.KeepEdges = true
	case complete:
		d.request.Edges = known
	default:
		d.request.KeepEdges, d.request.AddEdges = true, known
	}
	return d.associations(ctx)
}

// outgoing are the object's own references after the operation; complete is
// false when one of them is not known.
func (d *draft) outgoing() (known []graph.Edge, complete bool) {
	return edgesOf(d.subject.self.ID, d.refs)
}

// edgesOf leaves out references of low confidence: an edge keeps its target
// from being deleted.
func edgesOf(self graph.NodeID, refs []referents) (known []graph.Edge, complete bool) {
	known, complete = []graph.Edge{}, true
	for _, r := range refs {
		if r.rule.meta.low {
			continue
		}
		complete = complete && r.why[after] == nil
		for _, c := range r.targets[after] {
			known = append(known, graph.Edge{From: self, To: c[0].ID, Kind: r.rule.kind})
		}
	}
	return known, complete
}

// associations adds and drops the edges that the object stands for.
func (d *draft) associations(ctx context.Context) error {
	for _, e := range d.rule.edges {
		was, err := d.association(ctx, e, before)
		if err != nil {
			return err
		}
		will, err := d.association(ctx, e, after)
		if err != nil {
			return err
		}
		d.request.AddEdges = appendMissing(d.request.AddEdges, will, was)
		d.request.DropEdges = appendMissing(d.request.DropEdges, was, will)
	}
	return nil
}

func (d *draft) association(ctx context.Context, e *edge, on side) ([]graph.Edge, error) {
	if absent(d.scope.vars[sideRoots()[on]]) {
		return nil, nil
	}
	from, err := d.resolve(ctx, e.from, []side{on}, meta{})
	if err != nil {
		return nil, err
	}
	to, err := d.resolve(ctx, e.to, []side{on}, meta{})
	if err != nil {
		return nil, err
	}
	var list []graph.Edge
	for _, f := range from {
		for _, t := range to {
			list = append(list, graph.Edge{From: d.firm.nodes.add(f), To: d.firm.nodes.add(t), Kind: e.kind})
		}
	}
	return list, nil
}

// appendMissing appends the edges of more that are not among those of without.
func appendMissing(list, more, without []graph.Edge) []graph.Edge {
	for _, e := range more {
		if !containsEdge(without, e) {
			list = append(list, e)
		}
	}
	return list
}

func containsEdge(list []graph.Edge, e graph.Edge) bool {
	for _, o := range list {
		if o == e {
			return true
		}
	}
	return false
}
