// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package explore

import (
	"slices"

	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/core/graph"
	"github.com/tfweaver/tfweaver/internal/core/lock"
)

// status of a transaction as a small number.
type status uint8

const (
	none status = iota
	queued
	admitted
	actioning
	uncertain
	operational
	failed
	rejected
	stale
	withdrawn
)

// statuses are the names of the numbers.
var statuses = [...]admission.Status{
	"", admission.Queued, admission.Admitted, admission.Actioning, admission.Uncertain, admission.Operational,
	admission.Failed, admission.Rejected, admission.Stale, admission.Withdrawn,
}

func statusOf(s admission.Status) status { return status(slices.Index(statuses[:], s)) }

func (s status) holds() bool { return s >= admitted && s <= uncertain }
func (s status) final() bool { return s >= operational }

// knowledge of an object.
type knowledge uint8

const (
	unknown  knowledge = iota
	absent             // known to be gone
	there              // known to be there
	underway           // being changed, or the outcome is not known
)

// facts are what worlds ask about a state of the core. Sets of operations,
// sessions and objects are bits.
type facts struct {
	status                  [maxOps]status
	plans                   [maxSessions]status // of the reservations
	holds, passed, byOthers uint8               // operations
	readable, stale         uint8               // operations, see node.times
	ended, dead, mentioned  uint8               // sessions
	object                  [maxObjects]knowledge
	version, lives          [maxObjects]uint8
	refs                    [maxObjects]uint8
	sup, inf                [buckets]int64
	over                    [buckets]bool
	waiting, claims         int
	pausable                bool
}

func factsOf(c *Config, s *admission.State) facts {
	var f facts
	for i := range c.Ops {
		f.transaction(c, s, i)
	}
	for i := range c.Sessions {
		if p, ok := s.Tx(planID(i)); ok {
			f.plans[i] = statusOf(p.Status)
		}
		x, known := s.Session(sessionIDs[i])
		if !known || x.EndedAt != 0 {
			f.ended |= 1 << i
		}
		if !known || x.DeadAt != 0 {
			f.dead |= 1 << i
		}
		if known {
			f.mentioned |= 1 << i
		}
	}
	for i, id := range c.Objects {
		f.know(c, s, i, id)
	}
	for b := range buckets {
		if c.Capacity {
			l := s.Capacity().Level(bucketKey(b))
			f.sup[b], f.inf[b], f.over[b] = l.Sup, l.Inf, l.Overcommitted
		}
	}
	f.waiting, f.claims = len(s.Waiting()), len(s.Claims())
	return f
}

func (f *facts) transaction(c *Config, s *admission.State, i int) {
	tx, ok := s.Tx(txID(i))
	if !ok {
		return
	}
	f.status[i] = statusOf(tx.Status)
	if tx.Passed != nil {
		f.passed |= 1 << i
	}
	if tx.By != "" {
		f.byOthers |= 1 << i
	}
	if held, _ := s.Locks().Held(lock.Owner(tx.ID)); tx.Status.Holds() && len(held) == len(tx.Locks) {
		f.holds |= 1 << i
	}
	switch tx.Status {
	case admission.Uncertain:
		x, _ := s.Session(tx.Session)
		f.pausable = f.pausable || x.DeadAt != 0 && s.Readable(tx.ID) > s.Now()
	case admission.Stale:
		f.pausable = f.pausable || s.Now()-tx.EndedAt <= admission.StaleGrace
	}
}

func (f *facts) know(c *Config, s *admission.State, i int, id graph.NodeID) {
	n := s.Graph().Peek(id)
	if n == nil {
		return
	}
	f.version[i], f.lives[i] = uint8(n.Version), uint8(n.Incarnation)
	switch n.Lifecycle {
	case graph.Unknown:
		f.object[i] = unknown
	case graph.Absent:
		f.object[i] = absent
	case graph.Operational, graph.Failed:
		f.object[i] = there
	default:
		f.object[i] = underway
	}
	for j, to := range c.Objects {
		if s.Graph().HasEdge(graph.Edge{From: id, To: to, Kind: graph.References}) {
			f.refs[i] |= 1 << j
		}
	}
}
