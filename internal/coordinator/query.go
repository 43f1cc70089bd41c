// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package coordinator

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/core/conflict"
	"github.com/tfweaver/tfweaver/internal/core/graph"
)

// Prospect is what would become of one request of a plan.
type Prospect struct {
	Address string
	// Decision is admit, wait, reject or replan.
	Decision string
	// Report explains it; nil for admit.
	Report *conflict.Report
	// Incarnation and Version are those of the request's own object, 0 when
	// it is not known.
	Incarnation, Version uint64
}

// Forecast says what would become of each request of a plan if it were
// submitted now. With declare set, what the plan creates becomes known to the
// other sessions, in place of what the session declared before.
func (c *Coordinator) Forecast(ctx context.Context, session admission.SessionID, requests []admission.Request, declare bool) ([]Prospect, error) {
	for i := range requests {
		requests[i].Session = session
	}
	list := make([]Prospect, 0, len(requests))
	o := &op{after: func(st *admission.State) error {
		for i, p := range st.Forecast(requests) {
			if p.Err != nil {
				return fmt.Errorf("%s: %w", requests[i].Address, p.Err)
			}
			list = append(list, prospect(st, requests[i], p))
		}
		return nil
	}}
	if declare {
		o.command = func(_ *admission.State, stamp admission.Stamp, _ uint64) (admission.Command, error) {
			return declaration(stamp, session, requests), nil
		}
	}
	if err := c.do(ctx, o); err != nil {
		return nil, err
	}
	return list, nil
}

// declaration says what a plan will create.
func declaration(stamp admission.Stamp, session admission.SessionID, requests []admission.Request) admission.Declare {
	d := admission.Declare{Stamp: stamp, Session: session, Creates: []graph.Decl{}, Selves: []graph.NodeID{}}
	seen := map[graph.NodeID]bool{}
	for _, r := range requests {
		if r.Action != admission.Create {
			continue
		}
		d.Selves = append(d.Selves, r.Self)
		for _, n := range r.Nodes {
			if !seen[n.ID] {
				seen[n.ID] = true
				d.Creates = append(d.Creates, n)
			}
		}
	}
	return d
}

func prospect(st *admission.State, r admission.Request, p admission.Prospect) Prospect {
	out := Prospect{Address: r.Address, Decision: "admit"}
	if p.Decision != admission.Admitted {
		report := conflict.BuildProspect(st, r, p)
		out.Report, out.Decision = &report, string(report.Decision)
	}
	if n := st.Graph().Peek(r.Self); n != nil {
		out.Incarnation, out.Version = n.Incarnation, n.Version
	}
	return out
}

// Lookup returns nodes with their references, and the index of the last record
// that they include.
func (c *Coordinator) Lookup(ctx context.Context, ids []graph.NodeID) ([]Found, uint64, error) {
	found := make([]Found, 0, len(ids))
	var index uint64
	err := c.ask(ctx, func(st *admission.State) error {
		index = st.Index()
		for _, id := range ids {
			f := Found{Node: graph.Node{Decl: graph.Decl{ID: id}}}
			if n, ok := st.Graph().Get(id); ok {
				f = Found{Node: n, Known: true, Out: st.Graph().Out(id), In: st.Graph().In(id)}
				f.Node.History = slices.Clone(n.History)
			}
			found = append(found, f)
		}
		return nil
	})
	return found, index, err
}

// Explain returns the report of a transaction and its state. The report of one
// that neither waits nor was refused has no decision.
func (c *Coordinator) Explain(ctx context.Context, id admission.TxID) (conflict.Report, admission.Status, error) {
	var (
		report conflict.Report
		status admission.Status
	)
	err := c.ask(ctx, func(st *admission.State) error {
		tx, ok := st.Tx(id)
		if !ok {
			return fmt.Errorf("transaction %s: %w", id, admission.ErrNoTx)
		}
		report, status = conflict.BuildAt(st, id, "", c.realm.now()), tx.Status
		if o := report.Outcome; o != nil && o.By != "" {
			named := *o
			named.By = actorOf(st, o.By)
			report.Outcome = &named
		}
		return nil
	})
	return report, status, err
}

// actorOf is who settled a transaction: a person, or the actor of the session
// that has read the object.
func actorOf(st *admission.State, by string) string {
	if x, ok := st.Session(admission.SessionID(by)); ok && x.Actor != "" {
		return x.Actor
	}
	return by
}

// Status lists everything that is going on.
func (c *Coordinator) Status(ctx context.Context) (Status, error) {
	s := Status{
		Version: c.config.Version, Host: c.config.Host, Store: c.config.Store, Embedded: c.config.Embedded,
		Sessions: []SessionStatus{}, Transactions: []TxStatus{}, Locks: []LockStatus{},
		Claims: []ClaimStatus{}, Buckets: []BucketStatus{}, Declared: []graph.Node{},
	}
	err := c.ask(ctx, func(st *admission.State) error {
		s.Epoch, s.Index, s.Now = uint64(c.realm.epoch), st.Index(), c.realm.now()
		for _, x := range st.Sessions() {
			if x.EndedAt == 0 {
				s.Sessions = append(s.Sessions, SessionStatus{
					Session: x, Intents: st.Intents(x.ID),
					Dead: x.DeadAt != 0, Claimed: x.Labels[LabelIdentity] == IdentityClaimed,
				})
			}
		}
		s.transactions(st, actors(st))
		s.claims(st)
		s.Buckets = buckets(st, nil)
		for n := range st.Graph().Nodes() {
			if n.DeclaredBy != "" {
				s.Declared = append(s.Declared, *n)
			}
		}
		return nil
	})
	return s, err
}

// actors are those of all sessions that are remembered, ended ones too.
func actors(st *admission.State) map[admission.SessionID]string {
	m := map[admission.SessionID]string{}
	for _, x := range st.Sessions() {
		m[x.ID] = x.Actor
	}
	return m
}

// Holding is the number of transactions that hold locks, those with an unknown
// outcome among them: they outlive their sessions.
func (c *Coordinator) Holding(ctx context.Context) (int, error) {
	n := 0
	err := c.ask(ctx, func(st *admission.State) error {
		for _, tx := range st.Transactions() {
			if tx.Status.Holds() {
				n++
			}
		}
		return nil
	})
	return n, err
}

// claims adds the active claims.
func (s *Status) claims(st *admission.State) {
	for _, c := range st.Claims() {
		x := ClaimStatus{Claim: c, Running: []admission.TxID{}}
		if tx, ok := st.Tx(c.ID); ok {
			p := party(st, tx.Session, tx.Intent)
			x.Session, x.Actor, x.Objective = p.Session, p.Actor, p.Objective
		}
		for _, t := range s.Transactions {
			if t.Claim == c.ID {
				x.Running = append(x.Running, t.ID)
			}
		}
		s.Claims = append(s.Claims, x)
	}
}

// transactions adds what holds or waits, and the locks.
func (s *Status) transactions(st *admission.State, actors map[admission.SessionID]string) {
	for _, tx := range st.Transactions() {
		if tx.Status.Final() {
			continue
		}
		t := TxStatus{Tx: tx, Actor: actors[tx.Session]}
		t.Position, t.Ahead = st.Place(tx.ID)
		if tx.Status == admission.Queued {
			t.Blockers = st.Blockers(tx.ID)
		}
		if tx.Status == admission.Uncertain {
			u := unsettled(st, tx, s.Now)
			t.Unsettled = &u
		}
		s.Transactions = append(s.Transactions, t)
		if !tx.Status.Holds() {
			continue
		}
		for _, w := range tx.Locks {
			s.Locks = append(s.Locks, LockStatus{
				Node: w.Node, Mode: w.Mode.String(), Tx: tx.ID,
				Session: tx.Session, Actor: t.Actor, Address: tx.Address, Since: tx.AdmittedAt,
			})
		}
	}
	slices.SortStableFunc(s.Locks, func(a, b LockStatus) int { return cmp.Compare(a.Node, b.Node) })
}
