// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package admission

import (
	"crypto/sha256"
	"maps"
	"slices"
)

// Hash identifies the state: two states with one hash will decide alike for
// ever and report alike.
func (s *State) Hash() [32]byte {
	return sha256.Sum256(s.write(&canonical{b: make([]byte, 0, 4096)}))
}

// Fingerprint is a coarser Hash for the exploration of the state space. It
// leaves out clock readings, histories and stored reports, and of indexes and
// tickets keeps the order only; marks are indexes from outside (where reads
// began) that have to keep their place in that order. Two states with one
// fingerprint decide alike as long as no lease runs out in only one of them.
func (s *State) Fingerprint(marks ...uint64) [32]byte {
	c := &canonical{b: make([]byte, 0, 4096), abstract: true, indexes: slices.Clone(marks)}
	for n := range s.graph.Nodes() {
		c.indexes = append(c.indexes, n.ChangedIndex)
	}
	for _, e := range s.txs {
		c.indexes = append(c.indexes, e.StartedIndex)
		if !e.Status.Final() || e.Status == Stale {
			c.tickets = append(c.tickets, e.Ticket, e.Rank)
		}
	}
	c.indexes = append(c.indexes, s.escrow.Indexes()...)
	slices.Sort(c.indexes)
	c.indexes = slices.Compact(c.indexes)
	slices.Sort(c.tickets)
	for _, m := range marks {
		c.index(m)
	}
	return sha256.Sum256(s.write(c))
}

// write writes everything that is not derived from something else.
func (s *State) write(c *canonical) []byte {
	if !c.abstract {
		c.number(s.index)
		c.number(uint64(s.now))
		c.number(s.ticket)
		c.number(s.token)
	}
	for n := range s.graph.Nodes() {
		c.node(n)
	}
	c.edges(s.graph.Edges())
	c.number(uint64(len(s.sessions)))
	for _, id := range slices.Sorted(maps.Keys(s.sessions)) {
		c.seat(s.sessions[id])
	}
	c.number(uint64(len(s.intents)))
	for _, id := range slices.Sorted(maps.Keys(s.intents)) {
		c.intent(s.intents[id])
	}
	c.number(uint64(len(s.txs)))
	for _, id := range slices.Sorted(maps.Keys(s.txs)) {
		c.tx(s.txs[id])
	}
	c.capacity(s)
	c.claims(s)
	if !c.abstract {
		c.number(uint64(len(s.retired)))
		for _, id := range s.retired {
			c.text(string(id))
		}
	}
	return c.b
}

// digest identifies a request. The key is part of it, so that a repeated
// Submit is recognised by its content.
func digest(r *Request) [32]byte {
	var c canonical
	c.request(r)
	return sha256.Sum256(c.b)
}
