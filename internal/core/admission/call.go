// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package admission

import (
	"fmt"

	"github.com/tfweaver/tfweaver/internal/core/graph"
)

func (d *decision) tx(id TxID) (*entry, error) {
	e := d.txs.Get(id)
	if e == nil {
		return nil, fmt.Errorf("transaction %s: %w", id, ErrNoTx)
	}
	return e, nil
}

// holder finds a transaction that was admitted under a token.
func (d *decision) holder(id TxID, token uint64) (*entry, error) {
	e, err := d.tx(id)
	if err != nil {
		return nil, err
	}
	if token == 0 || e.Token != token {
		return nil, fmt.Errorf("transaction %s: %w", id, ErrToken)
	}
	return e, nil
}

func (e *entry) wrongStatus() error {
	return fmt.Errorf("transaction %s is %s: %w", e.ID, e.Status, ErrStatus)
}

// start is the point of no return: from here on only an answer, or a person,
// frees the locks.
func (d *decision) start(c Start) error {
	e, err := d.holder(c.Tx, c.Token)
	if err != nil {
		return err
	}
	if !d.alive(e.Session, d.at) {
		return fmt.Errorf("session %s: %w", e.Session, ErrNoSession)
	}
	switch e.Status {
	case Actioning: // said twice
		return nil
	case Admitted:
		if e.Action == Reserve {
			return fmt.Errorf("%w: a reservation is no call", ErrMalformed)
		}
		d.emit(TxStarted{Tx: c.Tx, At: d.at})
		return nil
	default:
		return e.wrongStatus()
	}
}

func (d *decision) complete(c Complete) error {
	e, err := d.holder(c.Tx, c.Token)
	if err != nil {
		return err
	}
	ended, err := outcome(&e.Tx, c)
	if err != nil {
		return err
	}
	switch {
	case e.Status.Final():
		if c.Result != Lost && e.Status == ended.Status && e.Exists == ended.Exists && e.By == "" {
			return nil // said twice
		}
		return e.wrongStatus()
	case e.Status == Admitted && c.Result != NotSent:
		return e.wrongStatus()
	case e.Status == Uncertain && c.Result == Lost:
		return nil
	case c.Result == Lost:
		d.emit(TxUncertain{Tx: c.Tx, At: d.at, Cause: "answer lost"})
		if e.Plan != "" {
			d.closeClaims(e.Plan)
		}
		d.drain() // what waits for its success is refused
		return nil
	}
	d.finish(&e.Tx, ended)
	return nil
}

// outcome is what a reported result means for the transaction. A success of
// itself says whether the object is there.
func outcome(tx *Tx, c Complete) (TxEnded, error) {
	e := TxEnded{Tx: c.Tx, Status: Failed, Exists: c.Exists, Settled: true, Bind: c.Bind, Digest: c.Digest}
	switch c.Result {
	case Succeeded:
		e.Status = Operational
		switch tx.Action {
		case Create, Update:
			e.Exists = true
		case Delete:
			e.Exists = false
		}
	case NotSent:
		e.Status, e.Exists, e.Settled, e.Cause = Withdrawn, false, false, "not sent"
	case Errored, Lost:
	default:
		return e, fmt.Errorf("%w: result %q", ErrMalformed, c.Result)
	}
	if !e.Exists {
		e.Bind, e.Digest = graph.Decl{}, ""
	}
	return e, nil
}

// finish ends a transaction, places the object it bound, and wakes the next.
func (d *decision) finish(tx *Tx, e TxEnded) {
	e.At = d.at
	if e.Bind.ID == tx.Self {
		e.Bind = graph.Decl{}
	}
	if e.Bind.ID != "" {
		e.Bind, e.Collision = d.bind(tx, e.Bind)
	}
	if tx.Action == Reserve && tx.Status == Admitted {
		d.dissolve(tx.ID)
	}
	d.emit(e)
	if tx.Plan != "" {
		d.closeClaims(tx.Plan)
	}
	d.drain()
}

// bind places the node for the id that the cloud chose. The call has happened
// whatever the graph thinks of its id, so nothing here may fail: an id that
// was already taken is flagged and left where it is.
func (d *decision) bind(tx *Tx, want graph.Decl) (graph.Decl, bool) {
	if old := d.graph.Peek(want.ID); old != nil {
		taken := old.Lifecycle.Live() && (old.Owner != "" || old.SinceIndex < tx.StartedIndex)
		return old.Decl, taken || want.Parent != "" && want.Parent != old.Parent
	}
	if want.Kind == "" {
		want.Kind = graph.Resource
	}
	if want.Type == "" {
		want.Type = tx.Type
	}
	if !d.graph.Has(want.Parent) {
		want.Parent, _ = d.graph.Parent(tx.Self)
	}
	fresh, err := d.placeable([]graph.Decl{want})
	if err != nil {
		return graph.Decl{}, false
	}
	d.place(fresh)
	return want, false
}

func (d *decision) withdraw(c Withdraw) error {
	e, err := d.tx(c.Tx)
	if err != nil {
		return err
	}
	switch e.Status {
	case Withdrawn:
		return nil
	case Queued, Admitted:
		d.finish(&e.Tx, TxEnded{Tx: c.Tx, Status: Withdrawn, Cause: c.Cause})
		return nil
	default:
		return e.wrongStatus()
	}
}

func (d *decision) resolve(c Resolve) error {
	e, err := d.tx(c.Tx)
	if err != nil {
		return err
	}
	if e.Status != Uncertain {
		return e.wrongStatus()
	}
	if c.Actor == "" || c.Reason == "" {
		return fmt.Errorf("%w: settling %s needs a name and a reason", ErrMalformed, c.Tx)
	}
	status := Failed
	if e.Action == Read || c.Exists == (e.Action != Delete) {
		status = Operational
	}
	d.finish(&e.Tx, TxEnded{
		Tx: c.Tx, Status: status, Exists: c.Exists, Settled: true,
		Cause: "resolved", By: c.Actor, Reason: c.Reason,
	})
	return nil
}
