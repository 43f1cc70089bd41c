// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package ruleengine

import (
	"fmt"

	"github.com/tfweaver/tfweaver/internal/core/graph"
	"github.com/zclconf/go-cty/cty"
)

// chain is a node and what contains it, the node first and its realm last.
type chain []graph.Decl

// position is where an object stands, as far as it can be told.
type position struct {
	// above is the containment from the nearest node that is known up to the
	// realm, nearest first.
	above chain
	// missing is the number of nodes between the object and above that are not
	// known; why is the reason for the nearest of them.
	missing int
	why     error
	// widen is the facet of above[0] that stands for everything that may lie
	// between; empty for all of it.
	widen string
}

// climb finds what contains an object of a type from its id, which may be
// unknown, and from what else s knows of the object.
func (a account) climb(r *resource, id cty.Value, s scope) (position, error) {
	var p position
	for range maxSteps {
		v, err := parentID(r, id, s)
		if err != nil {
			return p, err
		}
		if r.parent.kind == parentRealm {
			return p.close(a.realmAbove(r, v, s), r)
		}
		text, err := s.textOf(r.parent.id, v)
		switch {
		case err == nil:
			if err := p.put(a, r, text); err != nil {
				return p, err
			}
		case !withheld(err):
			return p, fmt.Errorf("parent of %s: %w", r.name, err)
		case len(p.above) > 0:
			return p, fmt.Errorf("what contains %s: %w", p.above[len(p.above)-1].ID, err)
		default:
			p.miss(err)
		}
		r, id = a.pack.resources[r.parent.kind], v
		s = a.blind(r)
	}
	return p, fmt.Errorf("%s is nested too deeply", r.name)
}

// parentID evaluates the id of the parent; null stands for the realm of the
// provider.
func parentID(r *resource, id cty.Value, s scope) (cty.Value, error) {
	if r.parent.id == nil {
		return cty.NullVal(cty.String), nil
	}
	return s.with(rootID, id).value(r.parent.id)
}

func (p *position) miss(why error) {
	p.missing++
	if p.why == nil {
		p.why = why
	}
}

// put places a known ancestor.
func (p *position) put(a account, below *resource, text string) error {
	id, err := a.node(text)
	if err != nil {
		return fmt.Errorf("parent of %s: %w", below.name, err)
	}
	if len(p.above) == 0 {
		p.widen = below.parent.widen
	}
	p.above = append(p.above, graph.Decl{ID: id, Kind: graph.Resource, Type: below.parent.kind})
	return nil
}

// close ends the way up at a realm and links the nodes.
func (p position) close(realm realmAbove, below *resource) (position, error) {
	if realm.err != nil {
		return p, realm.err
	}
	if len(p.above) == 0 {
		p.widen = below.parent.widen
	}
	p.above = append(p.above, realm.decl)
	for i := range p.above[:len(p.above)-1] {
		p.above[i].Parent = p.above[i+1].ID
		if p.above[i].ID == p.above[i].Parent {
			return p, fmt.Errorf("%w: %s cannot stand in itself", ErrIdentity, p.above[i].ID)
		}
	}
	return p, nil
}

type realmAbove struct {
	decl graph.Decl
	err  error
}

// realmAbove is the realm of an object: the one its id names, else the one the
// provider works in.
func (a account) realmAbove(r *resource, v cty.Value, s scope) realmAbove {
	if r.parent.id == nil {
		return realmAbove{decl: a.realm}
	}
	text, err := s.textOf(r.parent.id, v)
	if withheld(err) {
		return realmAbove{decl: a.realm}
	}
	if err != nil {
		return realmAbove{err: fmt.Errorf("realm of %s: %w", r.name, err)}
	}
	decl, err := a.realmNode(text)
	return realmAbove{decl: decl, err: err}
}

// blind is the scope of a rule that knows nothing of the object but its id.
func (a account) blind(r *resource) scope {
	s := a.scope.with(rootSelf, cty.DynamicVal).with(rootPrior, cty.DynamicVal).
		with(rootPlanned, cty.DynamicVal).with(rootAction, cty.UnknownVal(cty.String))
	s.rule = r.name
	return s
}

// locate places an object of a type by its id alone.
func (a account) locate(r *resource, id string) (chain, error) {
	node, err := a.node(id)
	if err != nil {
		return nil, err
	}
	p, err := a.climb(r, cty.StringVal(id), a.blind(r))
	if err != nil {
		return nil, err
	}
	if p.missing > 0 {
		return nil, fmt.Errorf("what contains %s: %w", node, p.why)
	}
	return p.below(graph.Decl{ID: node, Kind: graph.Resource, Type: r.name})
}

// below is the chain of a node that stands directly in a position.
func (p position) below(d graph.Decl) (chain, error) {
	d.Parent = p.above[0].ID
	if d.ID == d.Parent {
		return nil, fmt.Errorf("%w: %s is the id of a %s", ErrIdentity, d.ID, p.above[0].Type)
	}
	return append(chain{d}, p.above...), nil
}

// declarations collects nodes, parents before children.
type declarations struct {
	list  []graph.Decl
	index map[graph.NodeID]graph.NodeID // id to parent
}

// add places a chain and returns its first node.
func (d *declarations) add(c chain) graph.NodeID {
	for i := len(c) - 1; i >= 0; i-- {
		d.put(c[i])
	}
	return c[0].ID
}

// facet places a facet of a placed node; an empty facet is the node itself.
func (d *declarations) facet(of graph.NodeID, facet string) graph.NodeID {
	if facet == "" {
		return of
	}
	id := graph.FacetOf(of, facet)
	d.put(graph.Decl{ID: id, Parent: of, Kind: graph.Facet})
	return id
}

func (d *declarations) put(decl graph.Decl) {
	if d.index == nil {
		d.index = map[graph.NodeID]graph.NodeID{}
	}
	if _, ok := d.index[decl.ID]; ok {
		return
	}
	d.index[decl.ID] = decl.Parent
	d.list = append(d.list, decl)
}

// parent is the containment as package lock asks for it.
func (d *declarations) parent(id graph.NodeID) (graph.NodeID, bool) {
	up := d.index[id]
	return up, up != ""
}
