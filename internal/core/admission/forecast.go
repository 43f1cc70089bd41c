// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package admission

import (
	"fmt"

	"github.com/tfweaver/tfweaver/internal/core/graph"
)

// Prospect is what Submit would decide about a request now.
type Prospect struct {
	// Decision is Admitted, Queued, Rejected or Stale; empty when Err is set.
	Decision Status `json:"decision"`
	// Dormant: it would wait for an object that another session has declared.
	Dormant  bool      `json:"dormant,omitempty"`
	Blockers []Blocker `json:"blockers,omitempty"`
	// Err is the error that Submit would return.
	Err error `json:"-"`
}

// Forecast says what Submit would decide now about each request of a plan,
// each for itself, and changes nothing. What the plan creates counts as
// declared by its session. A forecast binds nobody.
func (s *State) Forecast(requests []Request) []Prospect {
	own := map[graph.NodeID]bool{}
	for _, r := range requests {
		if r.Action == Create {
			own[r.Self] = true
		}
	}
	list := make([]Prospect, 0, len(requests))
	for _, r := range requests {
		list = append(list, s.forecast(r, func(id graph.NodeID) bool { return own[id] }))
	}
	return list
}

func (s *State) forecast(r Request, own makers) Prospect {
	if !s.alive(r.Session, s.now) {
		return Prospect{Err: fmt.Errorf("session %s: %w", r.Session, ErrNoSession)}
	}
	r, err := s.attribute(r)
	if err != nil {
		return Prospect{Err: err}
	}
	if _, err := s.placeable(r.Nodes); err != nil {
		return Prospect{Err: err}
	}
	if err := s.validate(&r); err != nil {
		return Prospect{Err: err}
	}
	// Without a ticket it stands behind everybody.
	e, err := newEntry(Tx{Request: r})
	if err != nil {
		return Prospect{Err: err}
	}
	v, _, why := s.judgeFor(e, s.demand(), own)
	switch v {
	case grant:
		return Prospect{Decision: Admitted}
	case refuse:
		return Prospect{Decision: Rejected, Blockers: why}
	case stale:
		return Prospect{Decision: Stale, Blockers: why}
	default:
		return Prospect{Decision: Queued, Dormant: v == dormant, Blockers: s.blockers(e, own)}
	}
}
