// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package coordinator

import "github.com/tfweaver/tfweaver/internal/core/admission"

// peers remembers for each live session which others lived at the same time,
// so that a run can say with how many it was coordinated. A change of leader
// forgets those that have ended.
type peers map[admission.SessionID]map[admission.SessionID]struct{}

// rebuild brings the table up to date with the sessions of a state.
func (p *peers) rebuild(st *admission.State) {
	if *p == nil {
		*p = peers{}
	}
	var live []admission.SessionID
	for _, s := range st.Sessions() {
		if s.EndedAt == 0 {
			live = append(live, s.ID)
		}
	}
	next := make(peers, len(live))
	for _, id := range live {
		met := (*p)[id]
		if met == nil {
			met = map[admission.SessionID]struct{}{}
		}
		for _, other := range live {
			if other != id {
				met[other] = struct{}{}
			}
		}
		next[id] = met
	}
	*p = next
}

// of is how many sessions were open during one that still lives.
func (p peers) of(id admission.SessionID) int { return len(p[id]) }
