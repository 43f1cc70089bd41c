// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package admission

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/tfweaver/tfweaver/internal/core/cow"
	"github.com/tfweaver/tfweaver/internal/core/escrow"
	"github.com/tfweaver/tfweaver/internal/core/graph"
	"github.com/tfweaver/tfweaver/internal/core/lock"
)

// Format is the version of the JSON forms of snapshots and records. It grows
// only when an older program would misread what a newer one writes.
const Format = 1

// snapshot is the JSON form of a State.
type snapshot struct {
	Format   int          `json:"format"`
	Index    uint64       `json:"index"`
	Now      int64        `json:"now"`
	Ticket   uint64       `json:"ticket"`
	Token    uint64       `json:"token"`
	Graph    *graph.Graph `json:"graph"`
	Sessions []savedSeat  `json:"sessions"`
	Intents  []Intent     `json:"intents"`
	Txs      []savedEntry `json:"transactions"`
	Retired  []TxID       `json:"retired"`
	// Capacity is the capacity table, Read when its buckets were last read.
	Capacity *escrow.Table        `json:"capacity"`
	Read     map[escrow.Key]int64 `json:"read,omitempty"`
	// Phases are how far the calls of each reserved plan are.
	Phases map[TxID]string `json:"phases,omitempty"`
	Claims []Claim         `json:"claims,omitempty"`
}

type savedSeat struct {
	Session  Session        `json:"session"`
	First    IntentID       `json:"first"`
	Declares []graph.NodeID `json:"declares,omitempty"`
}

type savedEntry struct {
	Tx     Tx     `json:"tx"`
	Digest string `json:"digest"`
	Slim   bool   `json:"slim,omitempty"`
}

// MarshalJSON writes a snapshot: the same bytes for equal states.
func (s *State) MarshalJSON() ([]byte, error) {
	out := snapshot{
		Format: Format, Index: s.index, Now: s.now, Ticket: s.ticket, Token: s.token,
		Graph: s.graph, Retired: s.retired.Items(), Capacity: s.escrow,
		Read:   maps.Collect(s.read.All),
		Phases: map[TxID]string{}, Claims: s.Claims(),
	}
	for id, p := range s.plans.All {
		out.Phases[id] = p.marks()
	}
	for _, id := range s.sessions.Keys() {
		x := s.sessions.Get(id)
		out.Sessions = append(out.Sessions, savedSeat{Session: x.Session, First: x.first, Declares: x.declares})
	}
	for _, id := range s.intents.Keys() {
		out.Intents = append(out.Intents, s.intents.Get(id))
	}
	for _, id := range s.txs.Keys() {
		e := s.txs.Get(id)
		out.Txs = append(out.Txs, savedEntry{Tx: e.Tx, Digest: hex.EncodeToString(e.digest[:]), Slim: e.slim})
	}
	return json.Marshal(out)
}

// UnmarshalJSON replaces the state by a snapshot. What a newer version wrote
// is refused with ErrNewer and changes nothing.
func (s *State) UnmarshalJSON(data []byte) error {
	var head struct {
		Format int `json:"format"`
	}
	if err := json.Unmarshal(data, &head); err != nil {
		return fmt.Errorf("read snapshot: %w", err)
	}
	if head.Format != Format {
		return fmt.Errorf("snapshot format %d: %w", head.Format, ErrNewer)
	}
	in := snapshot{Graph: graph.New(), Capacity: escrow.NewTable()}
	if err := strict(data, &in); err != nil {
		return fmt.Errorf("read snapshot: %w", err)
	}
	fresh, err := restore(in)
	if err != nil {
		return fmt.Errorf("read snapshot: %w", err)
	}
	*s = *fresh
	return nil
}

func restore(in snapshot) (*State, error) {
	s := New()
	s.index, s.now, s.ticket, s.token = in.Index, in.Now, in.Ticket, in.Token
	s.graph, s.retired, s.escrow = in.Graph, cow.ListOf(in.Retired), in.Capacity
	for k, at := range in.Read {
		s.read.Set(&s.owner, k, at)
	}
	for _, x := range in.Sessions {
		s.sessions.Set(&s.owner, x.Session.ID, &seat{Session: x.Session, first: x.First})
	}
	for _, i := range in.Intents {
		s.intents.Set(&s.owner, i.ID, i)
	}
	for _, x := range in.Sessions {
		s.setDeclares(x.Session.ID, x.Declares)
	}
	for _, x := range in.Txs {
		if err := s.restoreTx(x); err != nil {
			return nil, err
		}
	}
	s.queue = cow.ListOf(slices.SortedFunc(slices.Values(s.queue.Items()), s.compareTickets))
	if err := s.restorePlans(in); err != nil {
		return nil, err
	}
	for n := range s.graph.Nodes() {
		for _, c := range n.History {
			s.ref(SessionID(c.Session))
		}
	}
	return s, nil
}

func (s *State) restoreTx(x savedEntry) error {
	e, err := newEntry(x.Tx)
	if err != nil {
		return fmt.Errorf("transaction %s: %w", x.Tx.ID, err)
	}
	e.slim = x.Slim
	if n, err := hex.Decode(e.digest[:], []byte(x.Digest)); err != nil || n != len(e.digest) {
		return fmt.Errorf("transaction %s: digest %q: %w", x.Tx.ID, x.Digest, ErrMalformed)
	}
	if s.sessions.Get(e.Session) == nil {
		return fmt.Errorf("transaction %s: %w", e.ID, ErrNoSession)
	}
	s.txs.Set(&s.owner, e.ID, e)
	s.ref(e.Session)
	if e.Key != 0 {
		s.keys.Set(&s.owner, key{e.Session, e.Key}, e.ID)
	}
	if e.Plan != "" && !e.Status.Final() {
		s.ongoing.Set(&s.owner, e.planned(), e.ID)
	}
	switch {
	case e.Status == Queued:
		s.queue.Append(&s.owner, e.ID)
	case e.Status.Holds() && e.Passed == nil:
		if err := s.locks.Acquire(lock.Owner(e.ID), e.Locks); err != nil {
			return err
		}
	}
	return nil
}

func (s *State) restorePlans(in snapshot) error {
	for id, marks := range in.Phases {
		e := s.txs.Get(id)
		if e == nil || e.Action != Reserve || e.Status != Admitted {
			return fmt.Errorf("plan %s: %w", id, ErrNoTx)
		}
		p, err := e.plan.restored(marks)
		if err != nil {
			return fmt.Errorf("plan %s: %w", id, err)
		}
		s.plans.Set(&s.owner, id, p)
	}
	for _, c := range in.Claims {
		if s.plans.Get(c.Plan) == nil {
			return fmt.Errorf("claim %s of plan %s: %w", c.ID, c.Plan, ErrNoTx)
		}
		if err := s.beginClaim(&c); err != nil {
			return fmt.Errorf("claim %s: %w", c.ID, err)
		}
	}
	return nil
}

// strict decodes JSON and takes a field that this version does not know as
// the mark of a newer one: leaving it out could change what the rest means.
func strict(data []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	err := d.Decode(into)
	if err != nil && bytes.Contains([]byte(err.Error()), []byte("unknown field")) {
		return fmt.Errorf("%w: %w", ErrNewer, err)
	}
	return err
}
