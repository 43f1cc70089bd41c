// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package simulation

import (
	"fmt"

	"github.com/tfweaver/tfweaver/internal/core/admission"
)

// describe is a record in the event log: what was decided, in a line.
func describe(r admission.Record) string {
	text := fmt.Sprintf("%T", r.Command)[len("admission."):]
	for _, e := range r.Events {
		switch e := e.(type) {
		case admission.TxSubmitted:
			text += fmt.Sprintf(" +%s(%s %s %s)", e.Tx.ID, e.Tx.Session, e.Tx.Action, e.Tx.Address)
		case admission.TxQueued:
			text += fmt.Sprintf(" %s waits for %s", e.Tx, holders(e.Blockers))
		case admission.TxAdmitted:
			text += fmt.Sprintf(" %s admitted(%d)", e.Tx, e.Token)
		case admission.TxRejected:
			text += fmt.Sprintf(" %s rejected by %s", e.Tx, holders(e.Blockers))
		case admission.TxStaled:
			text += fmt.Sprintf(" %s stale", e.Tx)
		case admission.TxStarted:
			text += fmt.Sprintf(" %s started", e.Tx)
		case admission.TxUncertain:
			text += fmt.Sprintf(" %s uncertain(%s)", e.Tx, e.Cause)
		case admission.TxEnded:
			text += fmt.Sprintf(" %s %s(exists=%v %s)", e.Tx, e.Status, e.Exists, e.Cause)
		case admission.SessionOpened:
			text += fmt.Sprintf(" %s of %s", e.Session.ID, e.Session.Origin)
		case admission.SessionEnded:
			text += fmt.Sprintf(" %s %s", e.Session, e.How)
		case admission.SenderDied:
			text += fmt.Sprintf(" %s is dead", e.Session)
		}
	}
	return text
}

// holders are the first reasons of a wait or a refusal.
func holders(list []admission.Blocker) string {
	text := ""
	for i, b := range list {
		if i == 3 {
			return text + "..."
		}
		text += fmt.Sprintf("[%s %s %s %s %s]", b.Relation, b.Node, b.Holder, b.Guard, b.Fact)
	}
	return text
}
