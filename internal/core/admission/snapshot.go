// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package admission

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/tfweaver/tfweaver/internal/core/cow"
	"github.com/tfweaver/tfweaver/internal/core/document"
	"github.com/tfweaver/tfweaver/internal/core/escrow"
	"github.com/tfweaver/tfweaver/internal/core/graph"
	"github.com/tfweaver/tfweaver/internal/core/lock"
)

// Format is the version of the JSON forms of snapshots and records. It grows
// only when an older program would misread what a newer one writes.
const Format = 1

// snapshot is the JSON form of a State.
type snapshot struct {
	Format int    `json:"format"`
	Index  uint64 `json:"index"`
	Now    int64  `json:"now"`
	Ticket uint64 `json:"ticket"`
	Token  uint64 `json:"token"`
	// Graph is written and read by itself.
	Graph    json.RawMessage `json:"graph"`
	Sessions []savedSeat     `json:"sessions"`
	Intents  []Intent        `json:"intents"`
	Txs      []savedEntry    `json:"transactions"`
	Retired  []TxID          `json:"retired"`
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
	var b bytes.Buffer
	err := s.WriteSnapshot(&b)
	return b.Bytes(), err
}

// WriteSnapshot writes what MarshalJSON returns, piece by piece.
func (s *State) WriteSnapshot(to io.Writer) error {
	head, tail, err := s.saved()
	if err != nil {
		return fmt.Errorf("write snapshot: %w", err)
	}
	for _, part := range []func() error{
		func() error { _, err := to.Write(head); return err },
		func() error { return s.graph.WriteJSON(to) },
		func() error { _, err := to.Write(tail); return err },
	} {
		if err := part(); err != nil {
			return fmt.Errorf("write snapshot: %w", err)
		}
	}
	return nil
}

// saved is the snapshot before and after the graph, which is most of a large one.
func (s *State) saved() (head, tail []byte, err error) {
	out := snapshot{
		Format: Format, Index: s.index, Now: s.now, Ticket: s.ticket, Token: s.token,
		Graph: json.RawMessage(`{}`), Retired: s.retired.Items(), Capacity: s.escrow,
		Read: maps.Collect(s.read.All), Phases: map[TxID]string{}, Claims: s.Claims(),
	}
	for id, p := range s.plans.All {
		out.Phases[id] = p.marks()
	}
	for _, x := range s.sessions.Sorted {
		out.Sessions = append(out.Sessions, savedSeat{Session: x.Session, First: x.first, Declares: x.declares})
	}
	for _, i := range s.intents.Sorted {
		out.Intents = append(out.Intents, i)
	}
	for _, e := range s.txs.Sorted {
		out.Txs = append(out.Txs, savedEntry{Tx: e.Tx, Digest: hex.EncodeToString(e.digest[:]), Slim: e.slim})
	}
	data, err := json.Marshal(out)
	const before = `"graph":`
	head, tail, _ = bytes.Cut(data, []byte(before+`{}`)) // the first one: only numbers come before
	return append(head[:len(head):len(head)], before...), tail, err
}

// UnmarshalJSON replaces the state by a snapshot. What a newer version wrote
// is refused with ErrNewer and changes nothing.
func (s *State) UnmarshalJSON(data []byte) error {
	fresh, err := ReadSnapshot(bytes.NewReader(data))
	if err != nil {
		return err
	}
	*s = *fresh
	return nil
}

// ReadSnapshot reads a state piece by piece: what is read takes no memory beside
// the state. What a newer version wrote is refused with ErrNewer.
func ReadSnapshot(from io.Reader) (*State, error) {
	in := snapshot{Capacity: escrow.NewTable()}
	g := graph.New()
	r := document.NewReader(from)
	err := r.Object(func(key string) error {
		if key == "graph" {
			return newer(g.ReadJSON(r))
		}
		text, err := r.Value()
		if err != nil {
			return err
		}
		return in.set(key, text)
	})
	if err == nil {
		err = r.End()
	}
	if err == nil && in.Format != Format {
		err = fmt.Errorf("format %d: %w", in.Format, ErrNewer)
	}
	if err != nil {
		return nil, fmt.Errorf("read snapshot: %w", err)
	}
	s, err := restore(in, g)
	if err != nil {
		return nil, fmt.Errorf("read snapshot: %w", err)
	}
	return s, nil
}

// set takes over one member.
func (in *snapshot) set(key string, value []byte) error {
	name, err := json.Marshal(key)
	if err != nil {
		return err
	}
	member := append(append(append([]byte{'{'}, name...), ':'), value...)
	if err := strict(append(member, '}'), in); err != nil {
		return err
	}
	if in.Format > Format {
		return fmt.Errorf("format %d: %w", in.Format, ErrNewer)
	}
	return nil
}

func restore(in snapshot, g *graph.Graph) (*State, error) {
	s := New()
	s.index, s.now, s.ticket, s.token = in.Index, in.Now, in.Ticket, in.Token
	s.graph, s.retired, s.escrow = g, cow.ListOf(in.Retired), in.Capacity
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
	for n := range s.graph.All {
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
	return newer(d.Decode(into))
}

// newer marks an error about a field that this version does not know.
func newer(err error) error {
	if err != nil && bytes.Contains([]byte(err.Error()), []byte("unknown field")) {
		return fmt.Errorf("%w: %w", ErrNewer, err)
	}
	return err
}
