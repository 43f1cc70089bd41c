// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package conflict

import (
	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/core/graph"
)

// stand fills in how a transaction stands: since when, what it is about, what
// it holds, and how it ended.
func (b builder) stand(r *Report, tx *admission.Tx) {
	r.Status = string(tx.Status)
	if at := reached(tx); at != 0 {
		r.Since, r.Age = stamp(at), b.age(at)
	}
	if tx.Self != "" {
		object := b.object(tx)
		r.Object = &object
	}
	if tx.Status.Holds() {
		for _, w := range tx.Locks {
			r.Holds = append(r.Holds, Hold{Resource: b.resource(w.Node), Mode: w.Mode.String()})
		}
	}
	r.Outcome = outcome(tx)
}

// reached is when a transaction came into its state, in nanoseconds since the
// Unix epoch. What became uncertain has been so since the call began: the
// answer may have been lost at any time since.
func reached(tx *admission.Tx) int64 {
	switch tx.Status {
	case admission.Queued:
		return tx.SubmittedAt
	case admission.Admitted:
		return tx.AdmittedAt
	case admission.Actioning, admission.Uncertain:
		return tx.StartedAt
	default:
		return tx.EndedAt
	}
}

// object is the object of a transaction, by the id that the cloud chose where
// it chose one.
func (b builder) object(tx *admission.Tx) Resource {
	id := tx.Self
	if n, ok := b.s.Graph().Get(id); ok && n.BoundTo != "" {
		id = graph.NodeID(n.BoundTo)
	}
	r := b.resource(id)
	if r.Type == "" {
		r.Type = tx.Type
	}
	return r
}

func outcome(tx *admission.Tx) *Outcome {
	o := Outcome{Cause: tx.Cause, By: tx.By, Reason: tx.Reason}
	if tx.Status == admission.Operational || tx.Status == admission.Failed {
		exists := tx.Exists
		o.Exists = &exists
	}
	if o == (Outcome{}) {
		return nil
	}
	return &o
}
