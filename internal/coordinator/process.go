// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package coordinator

import (
	"context"
	"fmt"

	"github.com/tfweaver/tfweaver/internal/core/admission"
)

// Process is one process of the machine on which the coordinator runs.
type Process struct {
	PID int `json:"pid"`
	// Started tells the process from a later one that was given the same
	// number. On Linux it is BOOT/NAMESPACE/TICKS: the id of the machine's boot,
	// the name space of process numbers, and the start in clock ticks after the
	// boot (field 22 of /proc/PID/stat); the ticks alone mean this boot and the
	// coordinator's own name space. Of a process with any other text, or none,
	// nobody can tell that it is dead.
	Started string `json:"started,omitempty"`
}

// Deceased journals that nothing can be sent any more in the name of a session.
// Only the coordinator's own look at the machine may say so.
//
// With idle set, it is said only of a session without a call that may be
// running: that the session's own process is dead is not the death of the
// processes that it left behind. It returns false when nothing was journalled
// for that reason.
func (c *Coordinator) Deceased(ctx context.Context, id admission.SessionID, idle bool) (bool, error) {
	said := true
	err := c.do(ctx, &op{
		command: func(st *admission.State, stamp admission.Stamp, _ uint64) (admission.Command, error) {
			x, ok := st.Session(id)
			if !ok {
				return nil, fmt.Errorf("session %s: %w", id, admission.ErrNoSession)
			}
			if x.DeadAt != 0 {
				return nil, nil
			}
			if idle && mayRun(st, id) {
				said = false
				return nil, nil
			}
			return admission.Deceased{Stamp: stamp, Session: id}, nil
		},
	})
	return said, err
}

// mayRun says whether a call of a session may be on its way.
func mayRun(st *admission.State, id admission.SessionID) bool {
	for _, tx := range st.Transactions() {
		if tx.Session == id && (tx.Status == admission.Actioning || tx.Status == admission.Uncertain) {
			return true
		}
	}
	return false
}

// Mortal says of each session whether its death would still tell something: it
// lives, or a call of it may be running, and it is not known to be dead.
func (c *Coordinator) Mortal(ctx context.Context, ids []admission.SessionID) (map[admission.SessionID]bool, error) {
	m := make(map[admission.SessionID]bool, len(ids))
	err := c.ask(ctx, func(st *admission.State) error {
		running := map[admission.SessionID]bool{}
		for _, tx := range st.Transactions() {
			if tx.Status == admission.Actioning || tx.Status == admission.Uncertain {
				running[tx.Session] = true
			}
		}
		for _, id := range ids {
			x, ok := st.Session(id)
			m[id] = ok && x.DeadAt == 0 && (x.EndedAt == 0 || running[id])
		}
		return nil
	})
	return m, err
}
