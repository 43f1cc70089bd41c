// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package simulation

import (
	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/core/graph"
	"github.com/tfweaver/tfweaver/internal/journal"
)

// flaw is a fault that was put into the shell or into the wrapper on purpose, to
// see that the judge notices. The zero value has none.
type flaw struct {
	// answerFirst answers before the append.
	answerFirst bool
	// noFence lets a deposed leader write under the epoch of its successor.
	noFence bool
	// noTakeOver leads without new leases.
	noTakeOver bool
	// freeOnExpiry gives up the locks of calls whose session has expired.
	freeOnExpiry bool
	// believeReads settles a call by any read.
	believeReads bool
	// hastyDeath takes the death of the wrapper for that of its plugin.
	hastyDeath bool
	// noStart forwards calls that were admitted and not started.
	noStart bool
	// noClaims forgets which calls belong together.
	noClaims bool
	// noGuards and noEffects leave something out of the requests, and advisory
	// asks for locks that nobody has to respect.
	noGuards, noEffects, advisory bool
	// noFacets takes no locks on facets: on slots, on lives.
	noFacets bool
	// forgetLast loads without the last record.
	forgetLast bool
	// early saves a snapshot as that of the record before.
	early bool
}

// tamper changes a command.
func (f flaw) tamper(s *server, c admission.Command) admission.Command {
	read, ok := c.(admission.Settle)
	if ok && f.believeReads {
		return admission.Resolve{Stamp: read.Stamp, Tx: read.Tx, Actor: "flaw", Reason: "read", Exists: read.Exists}
	}
	return c
}

// expired are further commands after leases ran out.
func (f flaw) expired(s *server) []waiting {
	var list []waiting
	if !f.freeOnExpiry {
		return nil
	}
	for _, tx := range s.state.Transactions() {
		if x, _ := s.state.Session(tx.Session); tx.Status == admission.Uncertain && x.EndedAt != 0 {
			list = append(list, own("free", func(stamp admission.Stamp) admission.Command {
				return admission.Resolve{Stamp: stamp, Tx: tx.ID, Actor: "flaw", Reason: "expired", Exists: tx.Action != admission.Create}
			}))
		}
	}
	return list
}

func (f flaw) epoch(s *server) journal.Epoch {
	if f.noFence && s.w.store.shared() {
		for _, other := range s.w.servers {
			if other.epoch > s.epoch {
				return other.epoch
			}
		}
	}
	return s.epoch
}

func (f flaw) behind(s *server) journal.Index {
	if f.noFence {
		return s.w.ledger.last()
	}
	return s.last
}

// request changes what is asked for.
func (f flaw) request(r admission.Request) admission.Request {
	if f.noGuards {
		r.Guards = nil
	}
	if f.noEffects {
		r.Effects = nil
	}
	if f.noFacets {
		kept := r.Locks[:0:0]
		for _, want := range r.Locks {
			if _, _, facet := graph.OwnerOfFacet(want.Node); !facet {
				kept = append(kept, want)
			}
		}
		r.Locks = kept
	}
	r.Advisory = f.advisory
	return r
}
