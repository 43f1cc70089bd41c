// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package explore

import (
	"fmt"

	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/core/graph"
)

type moveKind uint8

const (
	lower moveKind = iota
	submit
	resubmit
	resubmitLate
	start
	succeed
	fail
	lose
	notSent
	withdraw
	resolve // a person saw that it had succeeded
	refute  // a person saw that it had not
	declare
	leave
	lapse
	beginRead
	endRead
)

var moveNames = [...]string{
	"lower", "submit", "resubmit", "resubmit-late", "start", "succeed", "fail", "lose", "not-sent",
	"withdraw", "resolve", "refute", "declare", "close", "expire", "begin-read", "end-read",
}

// move is one step of a history; who is an operation or a session.
type move struct {
	kind moveKind
	who  int
}

func (m move) String() string { return fmt.Sprintf("%s %d", moveNames[m.kind], m.who) }

// moves are all steps that the world allows now.
func (w *world) moves() []move {
	var list []move
	for i := range w.config.Ops {
		list = w.opMoves(list, i)
	}
	for i := range w.config.Policies {
		list = w.sessionMoves(list, i)
	}
	if w.config.Reads != "" && !w.read.done {
		switch {
		case !w.read.begun:
			list = append(list, move{beginRead, 0})
		case !w.gone[0]:
			list = append(list, move{endRead, 0})
		}
	}
	return list
}

func (w *world) sessionMoves(list []move, i int) []move {
	if w.gone[i] {
		return list
	}
	if !w.declared[i] && len(w.makes(i)) > 0 {
		list = append(list, move{declare, i})
	}
	if w.faults < w.config.Faults {
		list = append(list, move{leave, i}, move{lapse, i})
	}
	return list
}

// makes are the objects that a session will create and has not tried to yet.
func (w *world) makes(session int) []graph.NodeID {
	var list []graph.NodeID
	for i := range w.config.Ops {
		if op := &w.config.Ops[i]; op.Make && op.Session == session && !w.runs[i].told {
			list = append(list, op.Self)
		}
	}
	return list
}

func (w *world) opMoves(list []move, i int) []move {
	op, r := &w.config.Ops[i], &w.runs[i]
	add := func(kinds ...moveKind) {
		for _, k := range kinds {
			list = append(list, move{k, i})
		}
	}
	if !r.submitted {
		if w.ready(op) {
			if (op.versioned != "" || op.lived != "") && !r.lowered {
				add(lower)
			} else {
				add(submit)
			}
		}
		return list
	}
	tx, _ := w.state.Tx(txID(i))
	mishap := w.faults < w.config.Faults
	switch tx.Status {
	case admission.Stale:
		if !w.gone[op.Session] && r.rounds == 0 {
			add(resubmit, resubmitLate)
		}
	case admission.Queued:
		if mishap {
			add(withdraw)
		}
	case admission.Admitted:
		add(start)
		if mishap {
			add(withdraw, notSent)
		}
	case admission.Actioning:
		list = w.outcomes(list, i, mishap, succeed, fail)
		if mishap {
			add(lose, notSent)
		}
	case admission.Uncertain:
		list = w.outcomes(list, i, true, succeed, fail)
		list = w.outcomes(list, i, true, resolve, refute)
	}
	return list
}

func (w *world) ready(op *Op) bool {
	if w.gone[op.Session] {
		return false
	}
	for _, a := range op.After {
		if !w.runs[a].ok {
			return false
		}
	}
	return true
}

// outcomes are the ends that a running call can have in the cloud: it succeeds
// if the cloud lets it, and fails if the cloud refuses it or by a mishap.
func (w *world) outcomes(list []move, i int, mishap bool, yes, no moveKind) []move {
	if w.possible(&w.config.Ops[i]) {
		list = append(list, move{yes, i})
		if !mishap {
			return list
		}
	}
	return append(list, move{no, i})
}

// possible says whether the cloud would accept an operation.
func (w *world) possible(op *Op) bool {
	for _, need := range op.Requires {
		if !w.cloud.exists[number(need)] {
			return false
		}
	}
	switch {
	case op.Make:
		return !w.cloud.exists[number(op.Self)]
	case op.Remove:
		return w.cloud.referrer(number(op.Self)) < 0
	default:
		return true
	}
}

// step makes a move. The error is the machine's; in a world that only offers
// what is allowed it is always a finding.
func (w *world) step(m move) (admission.Command, []admission.Event, error) {
	w.prepare(m)
	c := w.command(m)
	if c == nil {
		return nil, nil, nil
	}
	events, err := w.state.Apply(c)
	if err == nil {
		w.aftermath(m)
	}
	return c, events, err
}

// prepare is what happens in the world before the coordinator is told.
func (w *world) prepare(m move) {
	switch m.kind {
	case lower:
		w.lower(m.who)
	case resubmit, resubmitLate:
		w.lower(m.who)
		w.runs[m.who].rounds++
	case succeed, fail, resolve, refute:
		w.end(m.who, m.kind == succeed || m.kind == resolve)
		if m.kind == refute {
			w.cloud.doubt(&w.config.Ops[m.who])
		}
	case notSent:
		w.runs[m.who].inflight = false
	case beginRead:
		o := number(w.config.Reads)
		w.read.begun, w.read.mark = true, w.state.Index()
		w.read.exists, w.read.refs = w.cloud.exists[o], w.cloud.refs[o]
	case lapse:
		w.renewOthers(m.who)
	}
	if m.faulty(w) {
		w.faults++
	}
}

// faulty moves use up the mishaps that a history may have.
func (m move) faulty(w *world) bool {
	switch m.kind {
	case lose, notSent, withdraw, leave, lapse, resubmitLate:
		return true
	case fail:
		tx, _ := w.state.Tx(txID(m.who))
		return tx.Status == admission.Actioning && w.possible(&w.config.Ops[m.who])
	default:
		return false
	}
}

func (w *world) end(i int, ok bool) {
	r := &w.runs[i]
	r.inflight, r.told, r.ok = false, true, ok
	w.cloud.land(&w.config.Ops[i], ok)
}

// renewOthers lets the clock run to the end of one session's lease.
func (w *world) renewOthers(but int) {
	x, _ := w.state.Session(sessionID(but))
	for i := range w.config.Policies {
		if i != but && !w.gone[i] {
			at := admission.Stamp{Now: x.Expires - 1}
			_, _ = w.state.Apply(admission.Renew{Stamp: at, Session: sessionID(i)})
		}
	}
}

func (w *world) command(m move) admission.Command {
	at, id := w.tick(1), txID(m.who)
	tx, _ := w.state.Tx(id)
	switch m.kind {
	case submit, resubmit:
		return admission.Submit{Stamp: at, ID: id, Request: w.request(m.who)}
	case resubmitLate:
		return admission.Submit{Stamp: w.tick(admission.StaleGrace + 1), ID: id, Request: w.request(m.who)}
	case start:
		return admission.Start{Stamp: at, Tx: id, Token: tx.Token}
	case succeed, fail, lose, notSent:
		results := map[moveKind]admission.Result{
			succeed: admission.Succeeded, fail: admission.Errored, lose: admission.Lost, notSent: admission.NotSent,
		}
		return admission.Complete{Stamp: at, Tx: id, Token: tx.Token, Result: results[m.kind], Exists: w.left(m)}
	case withdraw:
		return admission.Withdraw{Stamp: at, Tx: id, Cause: "explored"}
	case resolve, refute:
		exists := w.cloud.exists[number(w.config.Ops[m.who].Self)]
		return admission.Resolve{Stamp: at, Tx: id, Actor: "explorer", Reason: "looked", Exists: exists}
	default:
		return w.sessionCommand(m, at)
	}
}

// left is what the caller can say about the object: a create that failed
// leaves nothing of its own, whoever else has made it.
func (w *world) left(m move) bool {
	op := &w.config.Ops[m.who]
	return !(op.Make && m.kind == fail) && w.cloud.exists[number(op.Self)]
}

func (w *world) sessionCommand(m move, at admission.Stamp) admission.Command {
	id := sessionID(m.who)
	switch m.kind {
	case declare:
		return admission.Declare{Stamp: at, Session: id, Creates: decls(), Selves: w.makes(m.who)}
	case leave:
		return admission.CloseSession{Stamp: at, Session: id}
	case lapse:
		x, _ := w.state.Session(id)
		return admission.Expire{Stamp: admission.Stamp{Now: x.Expires}}
	case endRead:
		o := admission.Observation{Decl: declOf(w.config.Reads), Exists: w.read.exists, Edges: []graph.Edge{}}
		for to := range objects {
			if w.read.refs&(1<<to) != 0 {
				o.Edges = append(o.Edges, graph.Edge{From: w.config.Reads, To: objects[to], Kind: graph.References})
			}
		}
		return admission.Observe{Stamp: at, Session: id, Began: w.read.mark, Nodes: decls(), Objects: []admission.Observation{o}}
	default:
		return nil
	}
}

// aftermath is what the world knows once the coordinator has answered.
func (w *world) aftermath(m move) {
	switch m.kind {
	case submit:
		w.runs[m.who].submitted = true
	case start:
		w.runs[m.who].inflight = true
	case declare:
		w.declared[m.who] = true
	case leave, lapse:
		w.gone[m.who] = true
	case endRead:
		w.read.done = true
	}
}
