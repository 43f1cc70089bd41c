// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package ruleengine

import (
	"slices"

	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/core/escrow"
	"github.com/tfweaver/tfweaver/internal/core/graph"
	"github.com/tfweaver/tfweaver/internal/core/lock"
	"github.com/tfweaver/tfweaver/internal/core/mode"
)

// part is what the rules of one confidence ask for. It places every node that
// it names.
type part struct {
	nodes   declarations
	wants   []lock.Want
	guards  []admission.Guard
	effects []escrow.Effect
}

func (p *part) want(node graph.NodeID, m mode.Mode, relation lock.Relation, rule, class string) {
	p.wants = append(p.wants, lock.Want{Node: node, Mode: m, Relation: relation, Rule: rule, Class: class})
}

// guard adds a guard once.
func (p *part) guard(g admission.Guard) {
	same := func(o admission.Guard) bool { return o.Kind == g.Kind && o.Node == g.Node && o.Value == g.Value }
	if !slices.ContainsFunc(p.guards, same) {
		p.guards = append(p.guards, g)
	}
}

// locks is the plan of the part.
func (p *part) locks() lock.Plan { return lock.Close(p.wants, p.nodes.parent) }

// shadow is the part as callers see it.
func (p *part) shadow() Shadow {
	s := Shadow{Nodes: p.nodes.list, Guards: p.guards}
	if len(p.wants) > 0 {
		s.Locks = p.locks()
	}
	if len(p.effects) > 0 {
		s.Effects = escrow.Collect(p.effects...)
	}
	return s
}

// Shadow is what rules of low confidence would ask for. It is no part of the
// request, so that such a rule never delays or refuses anything: a caller looks
// at it to find out whether the rule is right.
type Shadow struct {
	// Nodes places every node that the rest names, parents before children.
	Nodes []graph.Decl
	// Locks is a plan by itself, with the intentions for its wants.
	Locks   lock.Plan
	Guards  []admission.Guard
	Effects escrow.Effects
}

// Empty says whether no rule of low confidence took part.
func (s Shadow) Empty() bool {
	return len(s.Locks) == 0 && len(s.Guards) == 0 && len(s.Effects) == 0
}
