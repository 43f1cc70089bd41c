// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package coordinator

import (
	"context"
	"fmt"
	"time"

	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/core/graph"
)

// Moment is a place in the journal with its time.
type Moment struct {
	// Index is that of the last record.
	Index uint64 `json:"index"`
	// At is the coordinator's time, in nanoseconds since the Unix epoch.
	At int64 `json:"at"`
}

// Moment is where the journal stands. A reader asks before its read begins.
func (c *Coordinator) Moment(ctx context.Context) (Moment, error) {
	var m Moment
	err := c.ask(ctx, func(st *admission.State) error {
		m = Moment{Index: st.Index(), At: c.realm.now()}
		return nil
	})
	return m, err
}

// Unsettled is a call whose outcome is not known, and what can settle it.
type Unsettled struct {
	Tx admission.TxID `json:"tx"`
	// Self is the object of the call.
	Self graph.Decl `json:"self"`
	// Type and Address are Terraform's.
	Type    string           `json:"type"`
	Address string           `json:"address"`
	Action  admission.Action `json:"action"`
	// Session, Actor, Objective and Host are of whoever sent the call.
	Session   admission.SessionID `json:"session"`
	Actor     string              `json:"actor"`
	Objective string              `json:"objective"`
	Host      string              `json:"host,omitempty"`
	// Dead: all processes that could send the call are known to be dead.
	Dead bool `json:"dead"`
	// After is how long until a read may begin that settles the call by the
	// object's absence: 0 is now, negative is not known. A read that finds the
	// created object in a terminal state settles it at any time.
	After time.Duration `json:"after"`
}

// Unsettled lists the calls with an unknown outcome that are in the way of one
// of the session's own transactions, also over waiters before it.
func (c *Coordinator) Unsettled(ctx context.Context, session admission.SessionID, id admission.TxID) ([]Unsettled, error) {
	list := []Unsettled{}
	err := c.ask(ctx, func(st *admission.State) error {
		if err := owned(st, session, id); err != nil {
			return err
		}
		for _, tx := range inTheWay(st, id) {
			list = append(list, unsettled(st, tx, c.realm.now()))
		}
		return nil
	})
	return list, err
}

// inTheWay are the uncertain transactions that id waits for, by ticket.
func inTheWay(st *admission.State, id admission.TxID) []admission.Tx {
	holders, claims := map[admission.TxID]bool{}, map[admission.ClaimID]bool{}
	queue := []admission.TxID{id}
	seen := map[admission.TxID]bool{id: true}
	for len(queue) > 0 {
		for _, b := range st.Blockers(queue[0]) {
			if b.Claim != "" {
				claims[b.Claim] = true
			}
			if b.Holder == "" || seen[b.Holder] {
				continue
			}
			seen[b.Holder], holders[b.Holder] = true, true
			if tx, ok := st.Tx(b.Holder); ok && tx.Status == admission.Queued {
				queue = append(queue, b.Holder)
			}
		}
		queue = queue[1:]
	}
	var list []admission.Tx
	for _, tx := range st.Transactions() {
		// A reservation and a claim end with their calls.
		if tx.Status == admission.Uncertain && (holders[tx.ID] || holders[tx.Plan] || claims[tx.Claim]) {
			list = append(list, tx)
		}
	}
	return list
}

func unsettled(st *admission.State, tx admission.Tx, now int64) Unsettled {
	x, _ := st.Session(tx.Session)
	u := Unsettled{
		Tx: tx.ID, Self: graph.Decl{ID: tx.Self}, Type: tx.Type, Address: tx.Address, Action: tx.Action,
		Session: tx.Session, Actor: x.Actor, Objective: objective(st, &tx), Host: x.Host,
		Dead: x.DeadAt != 0, After: absence(st, tx.ID, now),
	}
	if n, ok := st.Graph().Get(tx.Self); ok {
		u.Self = n.Decl
	}
	return u
}

// absence is how long until a read of absence may begin.
func absence(st *admission.State, tx admission.TxID, now int64) time.Duration {
	at := st.Readable(tx)
	if at == 0 {
		return -1
	}
	return max(0, time.Duration(at-now))
}

// objective is what a transaction is for.
func objective(st *admission.State, tx *admission.Tx) string {
	i, ok := st.Intent(tx.Intent)
	if !ok {
		i, _ = st.FirstIntent(tx.Session)
	}
	return i.Objective
}

// Settle journals what a session read of the object of a call with an unknown
// outcome, whosever call that is. The session and the time of the command are
// set here. What does not settle the call is an admission.UnsettledError.
func (c *Coordinator) Settle(ctx context.Context, session admission.SessionID, read admission.Settle) error {
	read.Digest = c.keyed(read.Digest)
	return c.do(ctx, &op{
		command: func(st *admission.State, stamp admission.Stamp, _ uint64) (admission.Command, error) {
			if err := lives(st, session); err != nil {
				return nil, err
			}
			tx, ok := st.Tx(read.Tx)
			if ok && tx.Status.Final() && tx.StartedAt != 0 && tx.Exists == read.Exists {
				return nil, nil // somebody was faster, or this is said twice
			}
			read.Stamp, read.Session = stamp, session
			return read, nil
		},
	})
}

// lives refuses a session that has ended.
func lives(st *admission.State, id admission.SessionID) error {
	if x, ok := st.Session(id); !ok || x.EndedAt != 0 {
		return fmt.Errorf("session %s: %w", id, admission.ErrNoSession)
	}
	return nil
}
