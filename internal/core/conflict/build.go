// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package conflict

import (
	"math"
	"time"

	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/core/graph"
)

// States of a holder.
const (
	Running   = "running"
	Admitted  = "admitted"
	Waiting   = "waiting"
	Uncertain = "uncertain"
	Declared  = "declared"
	Ended     = "ended"
)

// Build explains the transaction to a viewer, as of the last record of the
// state. A transaction that neither waits nor was refused has no decision and
// no conflicts, only its standing, unless it goes on past what is in its way; one
// that is not known has no requester either. The viewer is empty for somebody who asks from outside any session:
// the report is the answer already, and does not advise to ask.
func Build(s *admission.State, id admission.TxID, viewer admission.SessionID) Report {
	return BuildAt(s, id, viewer, s.Now())
}

// BuildAt is Build with the ages reckoned at now, in nanoseconds since the
// Unix epoch.
func BuildAt(s *admission.State, id admission.TxID, viewer admission.SessionID, now int64) Report {
	tx, ok := s.Tx(id)
	if !ok {
		return Report{Schema: Schema, ID: string(id), Conflicts: []Conflict{}}
	}
	b := builder{s: s, now: now}
	r := b.report(&tx.Request, string(id), tx.Status, s.Blockers(id))
	if tx.Status == admission.Queued {
		position, ahead := s.Place(id)
		r.Wait = &WaitInfo{Position: position, Ahead: ahead, Waited: b.age(tx.SubmittedAt)}
	}
	if tx.Passed != nil { // it goes on, and whoever asks is told past what
		r.Conflicts = b.conflicts(tx.Blockers)
	}
	b.stand(&r, &tx)
	r.Actions = advise(r, string(viewer))
	return r
}

// BuildProspect explains what a forecast said about a request. Its ID is the
// address of the request, since there is no transaction yet; an admitted one
// has no decision.
func BuildProspect(s *admission.State, q admission.Request, p admission.Prospect) Report {
	b := builder{s: s, now: s.Now()}
	r := b.report(&q, q.Address, p.Decision, p.Blockers)
	r.Actions = advise(r, "")
	return r
}

// builder looks up what reports name.
type builder struct {
	s   *admission.State
	now int64
}

func (b builder) report(q *admission.Request, id string, status admission.Status, why []admission.Blocker) Report {
	r := Report{
		Schema: Schema, ID: id, Address: q.Address, Action: string(q.Action),
		Decision: decision(status, why), Requester: b.party(q), Conflicts: []Conflict{},
	}
	if r.Decision != "" {
		r.Conflicts = b.conflicts(why)
	}
	return r
}

func (b builder) conflicts(why []admission.Blocker) []Conflict {
	list := make([]Conflict, 0, len(why))
	for _, w := range why {
		list = append(list, b.conflict(w))
	}
	return list
}

func decision(status admission.Status, why []admission.Blocker) Decision {
	switch status {
	case admission.Queued:
		return Wait
	case admission.Stale:
		return Replan
	case admission.Rejected:
		for _, w := range why {
			if w.Replan {
				return Replan
			}
		}
		return Reject
	default:
		return ""
	}
}

func (b builder) party(q *admission.Request) Party {
	x, _ := b.s.Session(q.Session)
	return Party{Session: string(q.Session), Intent: b.objective(q.Session, q.Intent), Actor: x.Actor, ActorClaimed: unverified(x), RunURL: x.RunURL, State: x.Origin, Killed: killed(x)}
}

// killed says whether a session ended without saying so.
func killed(x admission.Session) bool { return x.Ended == "expired" || x.Ended == "died" }

// unverified says whether the actor of a session is a mere claim: the session
// came over a network, which the coordinator says, or it took the name from its
// environment, which it says itself. Both say so in labels.
func unverified(x admission.Session) bool {
	return x.Labels["tfweaver/identity"] == "claimed" || x.Labels["claimed"] == "true"
}

// objective is the text of an intent, the session's first one where none is
// named.
func (b builder) objective(session admission.SessionID, id admission.IntentID) string {
	i, ok := b.s.Intent(id)
	if !ok {
		i, _ = b.s.FirstIntent(session)
	}
	return i.Objective
}

func (b builder) conflict(w admission.Blocker) Conflict {
	c := Conflict{
		Resource: b.resource(w.Node), Relation: string(w.Relation), Class: w.Class,
		ModeHeld: w.Held, ModeWanted: w.Want, RuleID: w.Rule,
		Holder: b.holder(w), Exceeded: w.Exceeded,
	}
	if w.Dead {
		c.Failed = w.Fact
	}
	if w.Capacity != nil {
		c.Capacity = capacity(w.Capacity)
		c.Fact = &Fact{What: "use", Age: b.age(w.FactAt), Source: "read"}
	}
	if w.Guard != "" {
		c.Fact = &Fact{What: b.fact(w), Age: b.age(w.FactAt), Source: "coordinator"}
		b.found(c.Fact, w)
	}
	return c
}

func capacity(x *admission.Shortage) *Capacity {
	_, name, _ := admission.NodeOfBucket(x.Bucket)
	return &Capacity{
		Bucket: name, Limit: x.Limit, Used: x.Used, Reserved: x.Reserved,
		Theirs: x.Theirs, Doubt: x.Doubt, Asked: x.Asked, Hopeless: x.Hopeless,
	}
}

// found names the object that a guard found, where that is another one.
func (b builder) found(f *Fact, w admission.Blocker) {
	if w.FactNode == "" || w.FactNode == w.Node {
		return
	}
	o := b.resource(w.FactNode)
	f.Object = &o
	if n, ok := b.s.Graph().Get(w.FactNode); ok {
		f.State = n.Owner
	}
}

// fact is what a guard found, with the node where that is another one.
func (b builder) fact(w admission.Blocker) string {
	if w.FactNode == "" || w.FactNode == w.Node {
		return w.Fact
	}
	return w.Fact + " " + string(w.FactNode)
}

func (b builder) resource(id graph.NodeID) Resource {
	r := Resource{CloudID: string(id)}
	if owner, _, ok := graph.OwnerOfFacet(id); ok {
		id = owner
	}
	if n, ok := b.s.Graph().Get(id); ok {
		r.Address, r.Type = n.Address, n.Type
	}
	return r
}

// holder is the side that is in the way; nil where nobody is known.
func (b builder) holder(w admission.Blocker) *Holder {
	if w.HolderSession == "" {
		return nil
	}
	x, known := b.s.Session(w.HolderSession)
	h := &Holder{
		Session: string(w.HolderSession), Intent: string(w.HolderIntent),
		Objective: b.objective(w.HolderSession, w.HolderIntent),
		Actor:     x.Actor, ActorClaimed: unverified(x), Tool: x.Tool, RunURL: x.RunURL, State: Ended,
	}
	h.Dead = known && x.DeadAt != 0
	if IsState(w.Node) {
		h.Phase = x.Phase
	}
	if known && x.EndedAt == 0 {
		h.LeaseExpires = stamp(x.Expires)
	}
	if tx, ok := b.s.Tx(w.Holder); ok && w.Holder != "" {
		h.Tx, h.Address, h.Action = string(tx.ID), tx.Address, string(tx.Action)
		b.since(h, &tx)
		b.claimed(h, &tx, w.Claim)
		return h
	}
	if w.Guard == admission.Present && w.Fact == "declared" {
		h.State = Declared
		return h
	}
	b.trace(h, w.FactNode)
	return h
}

// trace fills in what the holder did to a node in the past.
func (b builder) trace(h *Holder, id graph.NodeID) {
	n, ok := b.s.Graph().Get(id)
	if !ok {
		return
	}
	h.Address = n.Address
	if c, ok := n.LastChange(); ok && c.Session == h.Session {
		h.Action, h.Since, h.Result = c.Action, stamp(c.At), c.Result
	}
}

// claimed says that more than the one call is held.
func (b builder) claimed(h *Holder, tx *admission.Tx, id admission.ClaimID) {
	for _, c := range b.s.Claims() {
		if c.ID != id {
			continue
		}
		h.Claim, h.State, h.Action = true, Running, "replace"
		h.Since, h.HeldFor = stamp(c.Since), b.age(c.Since)
		if tx.Action == admission.Reserve {
			h.Action = "plan"
		}
	}
}

func (b builder) since(h *Holder, tx *admission.Tx) {
	at := tx.EndedAt
	switch tx.Status {
	case admission.Queued:
		h.State, at = Waiting, tx.SubmittedAt
	case admission.Admitted:
		h.State, at = Admitted, tx.AdmittedAt
	case admission.Actioning:
		h.State, at = Running, tx.StartedAt
	case admission.Uncertain:
		h.State, at = Uncertain, tx.StartedAt
	}
	if at != 0 {
		h.Since, h.HeldFor = stamp(at), b.age(at)
	}
}

func stamp(at int64) string { return time.Unix(0, at).UTC().Format(time.RFC3339) }

// age is for how long something has been so, in seconds, to the millisecond.
func (b builder) age(at int64) float64 {
	if at == 0 || at > b.now {
		return 0
	}
	return math.Round(float64(b.now-at)/1e6) / 1e3
}
