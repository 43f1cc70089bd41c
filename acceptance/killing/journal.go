// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package killing

import (
	"time"

	"github.com/tfweaver/tfweaver/acceptance/lab"
	"github.com/tfweaver/tfweaver/internal/core/admission"
)

// call is the story of one transaction, as the journal tells it. Times are zero
// for what has not happened.
type call struct {
	tx                                  admission.Tx
	actor                               string
	submitted, admitted, started, ended time.Time
	token                               uint64
	status                              admission.Status
	// uncertain is true when the outcome was unknown for a while, read when a
	// session settled it by reading, and byPerson when somebody said so.
	uncertain, read, byPerson bool
}

// calls are the stories of all transactions in the order of their submission.
func calls(j lab.Journal) []*call {
	var all []*call
	byID := make(map[admission.TxID]*call)
	actors := make(map[admission.SessionID]string)
	for _, r := range j.Records {
		_, settle := r.Command.(admission.Settle)
		_, word := r.Command.(admission.Resolve)
		at := time.Unix(0, r.Now)
		for _, event := range r.Events {
			switch e := event.(type) {
			case admission.SessionOpened:
				actors[e.Session.ID] = e.Session.Actor
			case admission.TxSubmitted:
				if byID[e.Tx.ID] == nil {
					byID[e.Tx.ID] = &call{tx: e.Tx, actor: actors[e.Tx.Session], submitted: at}
					all = append(all, byID[e.Tx.ID])
				}
			case admission.TxAdmitted:
				byID[e.Tx].admitted, byID[e.Tx].token = at, e.Token
			case admission.TxStarted:
				byID[e.Tx].started = at
			case admission.TxUncertain:
				byID[e.Tx].uncertain = true
			case admission.TxEnded:
				c := byID[e.Tx]
				c.ended, c.status, c.read, c.byPerson = at, e.Status, settle, word
			}
		}
	}
	return all
}

// overlap says whether two calls were both under way at one moment, as far as
// the coordinator knew. A call that has not ended is under way for ever.
func (c *call) overlap(o *call) bool {
	if c.started.IsZero() || o.started.IsZero() {
		return false
	}
	return (o.ended.IsZero() || c.started.Before(o.ended)) && (c.ended.IsZero() || o.started.Before(c.ended))
}
