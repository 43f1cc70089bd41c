// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package gatekeeper

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/tfweaver/tfweaver/internal/coordinator/client"
	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/core/conflict"
	"github.com/tfweaver/tfweaver/internal/core/graph"
	"github.com/tfweaver/tfweaver/internal/core/lock"
	"github.com/tfweaver/tfweaver/internal/core/mode"
	"github.com/tfweaver/tfweaver/wrapper/intercept"
	"github.com/tfweaver/tfweaver/wrapper/views"
)

// State is the Terraform state that a run works on.
type State struct {
	// Origin identifies it: terraform.Workdir.Origin.
	Origin string
	// Folder and Workspace are what people call it by.
	Folder, Workspace string
	// Waits is called when another run is found in the way; nil for nothing.
	Waits func()
}

// Name is what a state is called in front of people.
func (s State) Name() string {
	return fmt.Sprintf("The state of %s (workspace %s)", s.Folder, s.Workspace)
}

// decls places the state's node.
func (s State) decls() []graph.Decl {
	return []graph.Decl{
		{ID: conflict.States, Kind: graph.Realm},
		{ID: conflict.StateNode(s.Origin), Parent: conflict.States, Kind: graph.Resource, Type: conflict.StateType},
	}
}

// request asks for the state alone. It is no call: nothing is ever sent for it,
// so that it is free as soon as the session has ended, however that ended.
func (s State) request(session string) admission.Request {
	node := conflict.StateNode(s.Origin)
	wants := []lock.Want{{Node: node, Mode: mode.X, Relation: lock.Same, Class: "in_flight"}}
	return admission.Request{
		Session: admission.SessionID(session), Address: s.Name(), Type: conflict.StateType,
		Action: admission.Read, Self: node, Nodes: s.decls(),
		Locks: lock.Close(wants, func(id graph.NodeID) (graph.NodeID, bool) { return conflict.States, id == node }),
	}
}

// EnterState waits for the turn to work on a state, first come, first served,
// for as long as Config.Wait, and holds it until LeaveState or the end of the
// session. A native run has Terraform's own lock from before its plan to its
// end; one in two steps gives that up in between, and this keeps the others of
// its kind out.
//
// A run enters its state before it holds anything else, so nobody waits for a
// state while others wait for what it holds. An *intercept.Refusal says, in the
// words for the user, why the run must end.
func (g *Gatekeeper) EnterState(ctx context.Context, state State) error {
	p := &petition{gate: g, name: state.Name(), mode: g.modeOf(""), waiting: state.Waits}
	if p.mode == Off {
		return nil
	}
	p.lower = func(context.Context, int) (admission.Request, error) { return state.request(g.session.ID()), nil }
	before := g.keys.Load()
	grant, err := p.submit(ctx)
	g.entries.Add(g.keys.Load() - before) // none for a change
	if err != nil {
		return g.shut(ctx, p, err)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.state = grant
	return nil
}

// shut is what becomes of a run whose turn did not come.
func (g *Gatekeeper) shut(ctx context.Context, p *petition, err error) error {
	p.watch.abandoned()
	var rejected *client.RejectedError
	switch {
	case errors.As(err, &rejected):
		return g.stateRefused(p, "", "The state is in use by another run", rejected.Report)
	case errors.Is(err, errWithin):
		return g.stateRefused(p, err.Error(), "The state is in use by the run that started this one", *p.lastReport())
	case ctx.Err() != nil:
		return err
	case p.mode.lenient(), g.mayGoAlone(p.mode, err):
		g.goAlone(p.name, err)
		return nil
	case errors.Is(err, errImpatient):
		const summary = "The state is in use: waited too long for another run"
		reason := fmt.Sprintf("this run waited %s for it, as long as -weaver-wait allows", g.config.Wait.Round(time.Second))
		if report := p.lastReport(); report != nil {
			return g.stateRefused(p, reason, summary, *report)
		}
		g.noteRefused(views.Refused{Address: p.name, Reason: reason})
		return &intercept.Refusal{Summary: summary, Detail: p.name + ": " + reason + ". " + untouched + " Run the command again."}
	default:
		reason := strings.TrimSuffix(err.Error(), ".")
		g.noteRefused(views.Refused{Address: p.name, Reason: reason})
		return &intercept.Refusal{
			Summary: "The state was not entered: no answer from the coordinator",
			Detail:  p.name + ": " + reason + ". " + untouched + " Run the command again when the coordinator is back.",
		}
	}
}

// untouched is true of every run that did not enter its state.
const untouched = "Nothing was planned and nothing was changed."

// stateRefused names who works on the state. The reason is empty where the run
// was not to wait.
func (g *Gatekeeper) stateRefused(p *petition, reason, summary string, report conflict.Report) error {
	report.Wait = nil // the place in the queue is given up
	g.noteRefused(views.Refused{Address: p.name, Reason: reason, Report: &report})
	text, hint := views.Told(report)
	if reason == "" {
		hint = strings.ReplaceAll(hint, "-weaver-policy=queue", "with a -weaver-wait that is not 0, or -weaver-policy=queue")
		return &intercept.Refusal{Summary: summary, Detail: text + "\n" + untouched + " " + hint}
	}
	return &intercept.Refusal{Summary: summary, Detail: fmt.Sprintf(
		"%s %s%s.\n%s Run the command again later, or let it wait longer with -weaver-wait; `tfweaver why %s` for more.",
		text, strings.ToUpper(reason[:1]), reason[1:], untouched, report.ID)}
}

// LeaveState lets the next run work on the state. It does nothing for a run that
// has not entered one.
func (g *Gatekeeper) LeaveState(ctx context.Context) {
	g.mu.Lock()
	grant := g.state
	g.state = nil
	g.mu.Unlock()
	if grant == nil || g.lost() != nil {
		return
	}
	if err := grant.Withdraw(ctx); err != nil && !errors.Is(err, client.ErrSessionEnded) {
		g.log.WarnContext(ctx, "state not given back; it is free when the session ends", "tx", grant.Tx(), "error", err)
	}
}
