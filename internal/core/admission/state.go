// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package admission

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/tfweaver/tfweaver/internal/core/cow"
	"github.com/tfweaver/tfweaver/internal/core/escrow"
	"github.com/tfweaver/tfweaver/internal/core/graph"
	"github.com/tfweaver/tfweaver/internal/core/lock"
)

// State is the whole state of the coordination protocol. It changes only by
// [State.Apply] and [State.Fold], is a value as far as [State.Clone] is
// concerned, and is not safe for concurrent use.
type State struct {
	index  uint64 // of the last record
	now    int64  // of the last record
	ticket uint64 // last one given
	token  uint64 // last one given
	graph  *graph.Graph
	// What a pointer leads to is never changed, only replaced: clones share. For
	// transactions see own.
	sessions cow.Map[SessionID, *seat]
	intents  cow.Map[IntentID, Intent]
	txs      cow.Map[TxID, *entry]
	escrow   *escrow.Table
	// read is when each bucket was last read.
	read cow.Map[escrow.Key, int64]
	// plans are the admitted reservations, and claims the active claims.
	plans  cow.Map[TxID, *plan]
	claims cow.Map[ClaimID, *Claim]
	// retired are the final transactions that are kept in full, oldest first.
	retired cow.List[TxID]

	// The rest follows from the above and is rebuilt from a snapshot.
	owner    cow.Owner
	locks    *lock.Table    // of calls
	claimed  *lock.Table    // of claims
	queue    cow.List[TxID] // by ticket
	keys     cow.Hash[key, TxID]
	ongoing  cow.Hash[call, TxID]               // the unfinished transaction of each planned call
	within   cow.Hash[call, ClaimID]            // the active claim of each planned call
	declared cow.Map[graph.NodeID, []SessionID] // sorted, never written to
	refs     cow.Map[SessionID, int]            // mentions by transactions and histories
	// ahead is what the waiters that stand in the way ask for; nil when it
	// has to be counted anew.
	ahead *line
	width int // of the last one: how many nodes it asked for
	// drawn is what waiters with claims ask for; epoch counts the claims that
	// have begun or ended.
	drawn map[TxID]drawn
	epoch uint64
}

// seat is a session with what belongs to it.
type seat struct {
	Session
	first    IntentID
	declares []graph.NodeID // sorted
}

// entry is a transaction with what is kept beside it.
type entry struct {
	Tx
	owner cow.Mark // of the state that may change it; others copy it first
	// digest identifies the request, also after it was slimmed.
	digest [32]byte
	// slim entries have lost their plan; they only answer for their key.
	slim bool
	// plain entries ask for locks and guards, and nothing else is to be thought
	// of: most of a crowd of waiters.
	plain bool
	// The rest follows from the request: what it does to capacity, what that
	// comes to, and all locks of a Whole plan.
	order  escrow.Order
	demand escrow.Demand
	union  lock.Plan
	// The plan of a reservation before any of its calls is sent, and the guards
	// of a Whole one.
	plan   *plan
	guards []Guard
}

// newEntry measures a request.
func newEntry(tx Tx) (*entry, error) {
	e := &entry{Tx: tx, plain: tx.Plan == "" && tx.Action != Reserve && len(tx.Effects) == 0 && !tx.Advisory}
	if tx.Action == Reserve {
		e.plan = newPlan(&tx.Request)
		if tx.Whole {
			e.union, e.guards = e.plan.locks(e.plan.all()), e.plan.guards(e.plan.all())
		}
	}
	var err error
	if e.order, err = orderOf(&tx.Request, e.plan); err != nil {
		return nil, err
	}
	if e.order != nil {
		e.demand = e.order.Demand()
	}
	return e, nil
}

// orderOf is what a request does to capacity, nil for nothing: one call, or the
// calls of a plan.
func orderOf(r *Request, p *plan) (order escrow.Order, err error) {
	switch {
	case p != nil:
		order, err = p.order()
	case len(r.Effects) > 0:
		order, err = escrow.One(r.Effects), r.Effects.Validate()
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	return order, nil
}

// key identifies a request of a session.
type key struct {
	session SessionID
	number  uint64
}

// call identifies a call of a plan.
type call struct {
	plan TxID
	id   CallID
}

func (t *Tx) planned() call { return call{t.Plan, t.Call} }

// New is the state before the first record.
func New() *State {
	return &State{
		graph:   graph.New(),
		escrow:  escrow.NewTable(),
		locks:   lock.NewTable(),
		claimed: lock.NewTable(),
	}
}

// Clone is an independent copy. It takes no time, however large the state is;
// what is different later is copied then. The state must not be used by others
// meanwhile; afterwards the two may be used side by side.
func (s *State) Clone() *State {
	s.owner.Part()
	c := *s
	c.graph, c.escrow = s.graph.Clone(), s.escrow.Clone()
	c.locks, c.claimed = s.locks.Clone(), s.claimed.Clone()
	c.ahead, c.drawn = nil, nil
	return &c
}

// Index is the index of the last record; 0 before the first.
func (s *State) Index() uint64 { return s.index }

// Now is the time of the last record, in nanoseconds since the Unix epoch.
func (s *State) Now() int64 { return s.now }

// Graph is the global graph. It must only be read, and not kept over an Apply.
func (s *State) Graph() *graph.Graph { return s.graph }

// Locks is the lock table; owners are transaction ids. It must only be read,
// and not kept over an Apply.
func (s *State) Locks() *lock.Table { return s.locks }

// Session is a session that lives or is still mentioned.
func (s *State) Session(id SessionID) (Session, bool) {
	seat := s.sessions.Get(id)
	if seat == nil {
		return Session{}, false
	}
	return seat.copy(), true
}

func (x *seat) copy() Session {
	c := x.Session
	c.Labels = maps.Clone(c.Labels)
	return c
}

// Intent is an intent of a session that is still known.
func (s *State) Intent(id IntentID) (Intent, bool) {
	i, ok := s.intents.Find(id)
	i.Links = slices.Clone(i.Links)
	return i, ok
}

// FirstIntent is the intent that a session was opened with.
func (s *State) FirstIntent(id SessionID) (Intent, bool) {
	if seat := s.sessions.Get(id); seat != nil {
		return s.Intent(seat.first)
	}
	return Intent{}, false
}

// Declares are the objects that a session has said it will create and has not
// made yet, sorted.
func (s *State) Declares(id SessionID) []graph.NodeID {
	if seat := s.sessions.Get(id); seat != nil {
		return slices.Clone(seat.declares)
	}
	return nil
}

// Tx is a transaction. Its slices must not be written to. A final transaction
// loses its plan when many others have ended since, and is forgotten with its
// session.
func (s *State) Tx(id TxID) (Tx, bool) {
	e := s.txs.Get(id)
	if e == nil {
		return Tx{}, false
	}
	return e.Tx, true
}

// TxByKey is the transaction that a session submitted under a key.
func (s *State) TxByKey(session SessionID, number uint64) (Tx, bool) {
	id, ok := s.keys.Find(key{session, number})
	if !ok {
		return Tx{}, false
	}
	return s.Tx(id)
}

// Sessions are copies of all known sessions, by id.
func (s *State) Sessions() []Session {
	list := make([]Session, 0, s.sessions.Len())
	for _, id := range s.sessions.Keys() {
		list = append(list, s.sessions.Get(id).copy())
	}
	return list
}

// Intents are all known intents of a session, by id.
func (s *State) Intents(session SessionID) []Intent {
	var list []Intent
	for _, id := range s.intents.Keys() {
		if i, _ := s.Intent(id); i.Session == session {
			list = append(list, i)
		}
	}
	return list
}

// Transactions are all known transactions, by ticket.
func (s *State) Transactions() []Tx {
	list := make([]Tx, 0, s.txs.Len())
	for _, e := range s.txs.All {
		list = append(list, e.Tx)
	}
	slices.SortFunc(list, func(a, b Tx) int {
		return cmp.Or(cmp.Compare(a.Ticket, b.Ticket), cmp.Compare(a.ID, b.ID))
	})
	return list
}

// Waiting are the queued transactions in the order of their tickets.
func (s *State) Waiting() []TxID { return slices.Clone(s.queue.Items()) }

// NextDeadline is the earliest end of a lease; ok is false when no session
// lives.
func (s *State) NextDeadline() (at int64, ok bool) {
	for _, x := range s.sessions.All {
		if x.EndedAt == 0 && (!ok || x.Expires < at) {
			at, ok = x.Expires, true
		}
	}
	return at, ok
}

// alive says whether a session exists, was not ended and holds its lease.
func (s *State) alive(id SessionID, now int64) bool {
	x := s.sessions.Get(id)
	return x != nil && x.EndedAt == 0 && now < x.Expires
}

// own is a transaction that may be changed, since no clone shares it.
func (s *State) own(e *entry) *entry {
	mark := s.owner.Mark()
	if e.owner != mark {
		c := *e
		c.owner = mark
		s.txs.Set(&s.owner, c.ID, &c)
		return &c
	}
	return e
}

// active are the transactions of a session that are not final, by ticket.
func (s *State) active(id SessionID) []*entry {
	var list []*entry
	for _, e := range s.txs.All {
		if e.Session == id && !e.Status.Final() {
			list = append(list, e)
		}
	}
	slices.SortFunc(list, func(a, b *entry) int { return cmp.Compare(a.Ticket, b.Ticket) })
	return list
}

func (s *State) compareTickets(a, b TxID) int {
	return comparePlaces(&s.txs.Get(a).Tx, &s.txs.Get(b).Tx)
}

// comparePlaces orders the queue: by ticket, where the calls of a reserved plan
// stand at the ticket of the reservation.
func comparePlaces(a, b *Tx) int {
	return cmp.Or(cmp.Compare(a.place(), b.place()), cmp.Compare(a.Ticket, b.Ticket))
}

func (t *Tx) place() uint64 {
	if t.Rank != 0 {
		return t.Rank
	}
	return t.Ticket
}
