// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package admission

import (
	"encoding/json"
	"fmt"
)

// briefSubmit is how the journal writes a Submit. Most of a record is the
// request, so one that the decision repeats, in TxSubmitted, is left out of the
// command. A Submit that was answered otherwise has its own.
type briefSubmit struct {
	Stamp
	ID      TxID     `json:"id"`
	Request *Request `json:"request,omitempty"`
	// First is set when the command named no intent, and so got the session's
	// first one; only without Request.
	First bool `json:"first_intent,omitempty"`
}

func (briefSubmit) command() {}

// brief is what is written of a command beside its decision.
func brief(c Command, events []Event) Command {
	submit, ok := c.(Submit)
	if !ok {
		return c
	}
	out := briefSubmit{Stamp: submit.Stamp, ID: submit.ID}
	if tx := submitted(submit.ID, events); tx != nil && same(&submit.Request, &tx.Request) {
		out.First = submit.Request.Intent == "" && tx.Intent != ""
		return out
	}
	out.Request = &submit.Request
	return out
}

// readSubmit leaves it to whole to look up a request that is not there.
func readSubmit(data json.RawMessage) (Command, error) {
	var v briefSubmit
	if err := strict(data, &v); err != nil {
		return nil, err
	}
	if v.Request == nil {
		return v, nil
	}
	return Submit{Stamp: v.Stamp, ID: v.ID, Request: *v.Request}, nil
}

// whole is the inverse of brief.
func whole(c Command, events []Event) (Command, error) {
	short, ok := c.(briefSubmit)
	if !ok {
		return c, nil
	}
	tx := submitted(short.ID, events)
	if tx == nil {
		return nil, fmt.Errorf("%w: neither the command nor the decision has the request of %s", ErrMalformed, short.ID)
	}
	out := Submit{Stamp: short.Stamp, ID: short.ID, Request: tx.Request}
	if short.First {
		out.Request.Intent = ""
	}
	return out, nil
}

// submitted is the transaction id as a decision has it; nil for none.
func submitted(id TxID, events []Event) *Tx {
	for _, e := range events {
		if e, ok := e.(TxSubmitted); ok && e.Tx.ID == id {
			return &e.Tx
		}
	}
	return nil
}

// same says whether two requests are known to be the same, but for an intent
// that the first leaves open. Lists are compared by their place in memory: the
// machine hands them on as they are.
func same(a, b *Request) bool {
	return a.Session == b.Session && (a.Intent == b.Intent || a.Intent == "") && a.Key == b.Key &&
		a.Address == b.Address && a.Type == b.Type && a.Action == b.Action && a.Self == b.Self &&
		shared(a.Nodes, b.Nodes) && shared(a.Locks, b.Locks) && shared(a.Guards, b.Guards) &&
		shared(a.Edges, b.Edges) && a.KeepEdges == b.KeepEdges &&
		shared(a.AddEdges, b.AddEdges) && shared(a.DropEdges, b.DropEdges) && shared(a.Effects, b.Effects) &&
		a.Plan == b.Plan && a.Call == b.Call && shared(a.Calls, b.Calls) && a.Whole == b.Whole &&
		a.Advisory == b.Advisory && a.Lands == b.Lands && a.Timeout == b.Timeout
}

// shared says whether two lists are one and the same.
func shared[E any](a, b []E) bool {
	if len(a) != len(b) || (a == nil) != (b == nil) {
		return false
	}
	return len(a) == 0 || &a[0] == &b[0]
}
