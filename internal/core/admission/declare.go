// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package admission

import (
	"fmt"
	"slices"

	"github.com/tfweaver/tfweaver/internal/core/graph"
)

func (d *decision) declare(c Declare) error {
	if !d.alive(c.Session, d.at) {
		return fmt.Errorf("session %s: %w", c.Session, ErrNoSession)
	}
	fresh, err := d.placeable(c.Creates)
	if err != nil {
		return err
	}
	named := names(c.Creates)
	for _, id := range c.Selves {
		if !d.graph.Has(id) && !named[id] {
			return fmt.Errorf("%s: %w", id, ErrUndeclared)
		}
	}
	selves := slices.Compact(slices.Sorted(slices.Values(c.Selves)))
	if slices.Equal(selves, d.sessions.Get(c.Session).declares) && len(fresh) == 0 {
		return nil
	}
	d.place(fresh)
	d.emit(Declared{Session: c.Session, Selves: selves})
	d.drain()
	return nil
}

func (s *State) foldDeclared(e Declared) error {
	if s.sessions.Get(e.Session) == nil {
		return fmt.Errorf("session %s: %w: %w", e.Session, ErrNoSession, ErrReplay)
	}
	s.ahead = nil
	s.setDeclares(e.Session, e.Selves)
	return nil
}

// setDeclares replaces what a session has declared; both lists are sorted. Only
// what is different is touched: a plan of thousands lifts its declarations one by
// one.
func (s *State) setDeclares(id SessionID, selves []graph.NodeID) {
	x := s.sessions.Get(id)
	if x == nil {
		return
	}
	for _, n := range without(x.declares, selves) {
		s.redeclare(n, func(by []SessionID) []SessionID {
			return slices.DeleteFunc(slices.Clone(by), func(b SessionID) bool { return b == id })
		})
	}
	_ = s.seat(id, func(x *seat) { x.declares = selves })
	for _, n := range without(selves, x.declares) {
		s.redeclare(n, func(by []SessionID) []SessionID {
			at, found := slices.BinarySearch(by, id)
			if found {
				return by
			}
			return slices.Insert(slices.Clone(by), at, id)
		})
	}
}

// without are the nodes of a sorted list that another one does not have.
func without(list, other []graph.NodeID) []graph.NodeID {
	var rest []graph.NodeID
	for _, n := range list {
		if _, found := slices.BinarySearch(other, n); !found {
			rest = append(rest, n)
		}
	}
	return rest
}

func (s *State) redeclare(n graph.NodeID, f func([]SessionID) []SessionID) {
	by := f(s.declared.Get(n))
	first := ""
	if len(by) > 0 {
		first = string(by[0])
		s.declared.Set(&s.owner, n, by)
	} else {
		s.declared.Delete(&s.owner, n)
	}
	s.graph.Update(n, func(x *graph.Node) { x.DeclaredBy = first })
}

// undeclare lifts one declaration that has come true, or that cannot any more.
func (s *State) undeclare(id SessionID, n graph.NodeID) {
	x := s.sessions.Get(id)
	if x == nil || !slices.Contains(x.declares, n) {
		return
	}
	rest := slices.DeleteFunc(slices.Clone(x.declares), func(d graph.NodeID) bool { return d == n })
	s.setDeclares(id, rest)
}
