// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package admission

import (
	"crypto/sha256"

	"github.com/tfweaver/tfweaver/internal/core/graph"
)

// Hash identifies the state: two states with one hash will decide alike for
// ever and report alike.
func (s *State) Hash() [32]byte {
	var c canonical
	s.write(&c)
	return sha256.Sum256(c.bytes())
}

// Fingerprint is a coarser Hash for the exploration of the state space. It
// leaves out clock readings, histories and stored reports, and of indexes and
// tickets keeps the order only; marks are indexes from outside (where reads
// began) that have to keep their place in that order. Two states with one
// fingerprint decide alike as long as no lease runs out in only one of them.
func (s *State) Fingerprint(marks ...uint64) [32]byte {
	c := canonical{abstract: true, indexes: make(ranks, 0, 16), tickets: make(ranks, 0, 8)}
	for _, m := range marks {
		c.indexes.add(m)
	}
	for n := range s.graph.ByID {
		c.indexes.add(n.ChangedIndex)
		c.indexes.add(n.SinceIndex)
	}
	for _, e := range s.txs.All {
		c.indexes.add(e.StartedIndex)
		if !e.Status.Final() || e.Status == Stale {
			c.tickets.add(e.Ticket)
			c.tickets.add(e.Rank)
		}
	}
	for _, i := range s.escrow.Indexes() {
		c.indexes.add(i)
	}
	for _, m := range marks {
		c.index(m)
	}
	s.write(&c)
	return sha256.Sum256(c.bytes())
}

// write writes everything that is not derived from something else.
func (s *State) write(c *canonical) {
	if !c.abstract {
		c.number(s.index)
		c.number(uint64(s.now))
		c.number(s.ticket)
		c.number(s.token)
	}
	c.number(uint64(s.graph.Len()))
	last := &graph.Node{}
	for n := range s.graph.ByID {
		c.nodeAfter(last, n)
		last = n
	}
	c.edges(s.graph.Edges())
	c.number(uint64(s.sessions.Len()))
	for _, x := range s.sessions.Sorted {
		c.seat(x)
	}
	c.number(uint64(s.intents.Len()))
	for _, x := range s.intents.Sorted {
		c.intent(x)
	}
	c.number(uint64(s.txs.Len()))
	for _, x := range s.txs.Sorted {
		c.tx(x)
	}
	c.capacity(s)
	c.claims(s)
	if !c.abstract {
		c.number(uint64(s.retired.Len()))
		for _, id := range s.retired.Items() {
			c.text(string(id))
		}
	}
}

// digest identifies a request. The key is part of it, so that a repeated
// Submit is recognised by its content.
func digest(r *Request) [32]byte {
	var c canonical
	c.request(r)
	return sha256.Sum256(c.bytes())
}
