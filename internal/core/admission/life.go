// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package admission

import "github.com/tfweaver/tfweaver/internal/core/graph"

// plannedAt refuses what was planned before the present life of an object began,
// or ended. Whoever creates anew what is gone need not know of its last life.
func (s *State) plannedAt(tx *Tx, g Guard) []Blocker {
	n := s.object(g.Node)
	if n == nil || n.LifeAt == 0 || uint64(n.LifeAt) <= g.Value {
		return nil
	}
	fact := "incarnation begun after the plan was made"
	if n.Lifecycle == graph.Absent {
		if tx.Action == Create && tx.Self == g.Node {
			return nil
		}
		fact = string(graph.Absent)
	}
	b := s.changedBlocker(g, n, fact)
	b.Class, b.Replan = "lost_update", true
	return []Blocker{b}
}
