// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package gatekeeper

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/tfweaver/tfweaver/internal/coordinator"
	"github.com/tfweaver/tfweaver/internal/coordinator/client"
	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/core/conflict"
	"github.com/tfweaver/tfweaver/internal/core/graph"
	"github.com/tfweaver/tfweaver/wrapper/views"
)

// lookBefore looks at the objects that a plan creates and that the coordinator
// takes for living, since no state has them and so no refresh shows them. What
// is gone is noted, so that the create begins a new life and its success can be
// seen. What is there although this very state made it is told: an earlier run
// did not live to note it.
func (g *Gatekeeper) lookBefore(ctx context.Context, requests []admission.Request, prospects []client.Prospect) {
	created := creates(requests, prospects)
	if len(created) == 0 {
		return
	}
	var nodes []graph.Decl
	for _, f := range g.living(ctx, created) {
		nodes = append(nodes, f.Node.Decl)
	}
	failed := g.refreshAll(ctx, nodes)
	for _, f := range g.living(ctx, created) {
		if failed[f.Node.ID] == nil {
			g.note(ctx, created[f.Node.ID], f)
		}
	}
	g.tellLeft()
}

// creates are the addresses of what a plan creates, by node, without what it
// deletes first and what never lived.
func creates(requests []admission.Request, prospects []client.Prospect) map[graph.NodeID]string {
	list := map[graph.NodeID]string{}
	for i, r := range requests {
		if r.Action == admission.Create && prospects[i].Incarnation > 0 {
			list[r.Self] = r.Address
		}
	}
	for _, r := range requests {
		if r.Action == admission.Delete {
			delete(list, r.Self)
		}
	}
	return list
}

// living are those of some nodes that are objects and are thought to be there,
// with no call on them.
func (g *Gatekeeper) living(ctx context.Context, nodes map[graph.NodeID]string) []coordinator.Found {
	var ids []graph.NodeID
	for id := range nodes {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	found, _, err := g.session.Lookup(ctx, ids...)
	if err != nil {
		g.log.WarnContext(ctx, "what is to be created was not looked up", "error", err)
		return nil
	}
	return slices.DeleteFunc(found, func(f coordinator.Found) bool {
		return !f.Known || f.Node.Kind != graph.Resource || f.Node.Lifecycle != graph.Operational && f.Node.Lifecycle != graph.Failed
	})
}

// note remembers an object that is left behind, if it is one: this state has made
// it, and does not have it.
func (g *Gatekeeper) note(ctx context.Context, address string, f coordinator.Found) bool {
	if f.Node.Owner == "" || f.Node.Owner != g.config.State {
		return false
	}
	left := views.LeftBehind{Address: address, Import: g.importCommand(address, f.Node.Decl)}
	for _, c := range slices.Backward(f.Node.History) {
		if c.Action != string(admission.Create) {
			continue
		}
		if report, _, err := g.explain(ctx, admission.TxID(c.Tx)); err == nil {
			left.Actor, left.Killed = report.Requester.Actor, report.Requester.Killed
		}
		break
	}
	g.ledger.leftBehind(left)
	return true
}

// importCommand is how an object is taken into the state; empty where its id is
// not known.
func (g *Gatekeeper) importCommand(address string, node graph.Decl) string {
	from, err := g.source(node)
	if err != nil || strings.HasPrefix(address, oneOf) || strings.Contains(address, " (") {
		return ""
	}
	return views.ImportCommand(g.config.Import, address, g.spelled(node.ID, from.how.ImportID))
}

// spells remembers how the provider writes the id of an object.
func (g *Gatekeeper) spells(node graph.NodeID, id string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.spelling[node] = id
}

// spelled is an id as the provider writes it, as far as that is known.
func (g *Gatekeeper) spelled(node graph.NodeID, id string) string {
	g.mu.Lock()
	defer g.mu.Unlock()
	if written := g.spelling[node]; strings.EqualFold(written, id) {
		return written
	}
	return id
}

// oneOf begins the name of a call that may be that of several changes.
const oneOf = "one of "

// tellLeft shows what is left behind, each once.
func (g *Gatekeeper) tellLeft() {
	if list := g.ledger.untold(); len(list) > 0 {
		g.view.Problem(views.ExistsAlready(list))
	}
}

// lookAfter looks at the object of a create that had to wait: the call that it
// waited for may have been the create of the same object by a run that is dead.
func (a *admittance) lookAfter(ctx context.Context) bool {
	if a.op.Action != admission.Create {
		return false
	}
	self := a.petition.request.Self
	left := false
	for _, f := range a.gate.living(ctx, map[graph.NodeID]string{self: a.name()}) {
		left = a.gate.note(ctx, a.name(), f) || left
	}
	a.gate.tellLeft()
	return left
}

// admit asks for the admission of a call. A create of what an earlier run of this
// state has left behind is not refused for that: the provider says what it makes
// of it, and how to take the object over is told.
func (a *admittance) admit(ctx context.Context) (Grant, error) {
	grant, err := a.petition.submit(ctx)
	var rejected *client.RejectedError
	switch {
	case err == nil && a.petition.waited():
		a.lookAfter(ctx)
	case errors.As(err, &rejected) && slices.ContainsFunc(rejected.Report.Conflicts, func(c conflict.Conflict) bool { return appeared(rejected.Report, c) }):
		if a.lookAfter(ctx) {
			a.gate.forgetLife(a.petition.request.Self)
			return a.petition.submit(ctx)
		}
	}
	return grant, err
}

// appeared says whether what is to be created has come to be there since the plan
// was made.
func appeared(r conflict.Report, c conflict.Conflict) bool {
	return r.Action == string(admission.Create) && c.Fact != nil && strings.HasPrefix(c.Fact.What, "incarnation ")
}

// waited says whether the request was in the queue.
func (p *petition) waited() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.tx != ""
}
