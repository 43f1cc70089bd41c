// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package gatekeeper

import (
	"slices"

	"github.com/tfweaver/tfweaver/internal/coordinator/client"
	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/core/graph"
	"github.com/tfweaver/tfweaver/wrapper/intercept"
	"github.com/tfweaver/tfweaver/wrapper/views"
)

// made is an object that a call of this run was to make, change or delete.
type made struct {
	address, action string
	tx              admission.TxID
	node            graph.Decl
	// id is what the provider calls the object; empty when not known.
	id string
	// answered is true for a call that the provider answered, with an error and
	// without a state.
	answered bool
	// ended is true once it is known whether the object is there.
	ended, exists bool
}

// unheard says whether the CLI has learned nothing of the object from a call: it
// got no answer, or one with an error and without a state.
func unheard(o intercept.Outcome) bool {
	switch {
	case o.Result == intercept.Unknown, o.HungUp:
		return true
	default:
		return o.Result == intercept.Failed && !exists(o.NewState)
	}
}

// keep notes what the summary may have to tell of a call: one that the CLI has
// not heard of, one that was not sent because the provider had died, and each
// object that was created, in case the CLI is killed before it notes it.
func (p *permit) keep(o intercept.Outcome) {
	created := p.op.Action == admission.Create
	if created && o.Result == intercept.Failed {
		p.gate.ledger.notCreated(p.name())
	}
	switch {
	case o.Result == intercept.NotSent && o.SenderDead:
		p.gate.ledger.notSent(p.name())
	case o.Result == intercept.NotSent:
	case unheard(o):
		p.unheard = o.Result == intercept.Unknown || o.HungUp || created
		if p.unheard {
			p.gate.ledger.unheard(p.made(o))
		}
	case o.Result == intercept.Succeeded && created:
		p.gate.ledger.made(p.made(o))
	}
}

func (p *permit) made(o intercept.Outcome) made {
	m := made{answered: o.Result == intercept.Failed && !o.HungUp, address: p.name(), action: string(p.op.Action), tx: p.grant.Tx(), node: p.node()}
	if exists(o.NewState) {
		m.id, _ = plainText(p.call, o.NewState, "id")
	}
	return m
}

// learned notes how an unheard call ended.
func (p *permit) learned(outcome client.Outcome) {
	if p.unheard && outcome.Result != admission.Lost && outcome.Result != admission.NotSent {
		p.gate.ledger.learned(p.grant.Tx(), outcome.Exists)
	}
}

// Unanswered are the calls of this run that the CLI has learned nothing good of,
// as far as it is known how they ended. cut is true for a CLI that was killed:
// then it may not have noted what it learned, and all that was created counts.
func (g *Gatekeeper) Unanswered(cut bool) []views.Unanswered {
	var list []views.Unanswered
	for _, m := range g.ledger.unanswered(cut) {
		u := views.Unanswered{Address: m.address, Action: m.action, Tx: string(m.tx), Exists: m.exists, Answered: m.answered}
		if m.id != "" {
			g.spells(m.node.ID, m.id)
		}
		if u.Import = g.importCommand(m.address, m.node); u.Import == "" {
			u.Import = views.ImportCommand(g.config.Import, m.address, m.id)
		}
		list = append(list, u)
	}
	return list
}

func (l *ledger) unheard(m made) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.silent = append(l.silent, m)
}

func (l *ledger) made(m made) {
	l.mu.Lock()
	defer l.mu.Unlock()
	m.ended, m.exists = true, true
	l.created = append(l.created, m)
}

func (l *ledger) notSent(address string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.unsent = append(l.unsent, address)
}

// learned notes whether the object of a call is there, once.
func (l *ledger) learned(tx admission.TxID, exists bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.learn(tx, exists)
}

// learn is learned; the lock is held.
func (l *ledger) learn(tx admission.TxID, exists bool) {
	for i := range l.silent {
		if m := &l.silent[i]; m.tx == tx && !m.ended {
			m.ended, m.exists = true, exists
		}
	}
}

func (l *ledger) unanswered(cut bool) []made {
	l.mu.Lock()
	defer l.mu.Unlock()
	list := slices.DeleteFunc(slices.Clone(l.silent), func(m made) bool {
		// That a change failed the CLI says; what is left behind is told as such.
		return !m.ended || m.answered && (!m.exists || l.knownLeft(m.address))
	})
	if cut {
		list = append(list, l.created...)
	}
	return list
}

// leftBehind notes an object that is left behind, once for each address.
func (l *ledger) leftBehind(x views.LeftBehind) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.knownLeft(x.Address) {
		l.left = append(l.left, x)
	}
}

// knownLeft says whether the object of an address was there before; the lock is
// held.
func (l *ledger) knownLeft(address string) bool {
	return slices.ContainsFunc(l.left, func(x views.LeftBehind) bool { return x.Address == address })
}

// untold are the objects left behind that were not told yet.
func (l *ledger) untold() []views.LeftBehind {
	l.mu.Lock()
	defer l.mu.Unlock()
	list := slices.Clone(l.left[l.leftTold:])
	l.leftTold = len(l.left)
	return list
}

// notCreated notes that the create of an address failed.
func (l *ledger) notCreated(address string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.failed = append(l.failed, address)
}

// inTheWayOf are the objects left behind that kept a create from succeeding; the
// lock is held.
func (l *ledger) inTheWayOf() []views.LeftBehind {
	return slices.DeleteFunc(slices.Clone(l.left), func(x views.LeftBehind) bool { return !slices.Contains(l.failed, x.Address) })
}
