// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package explore

import (
	"errors"
	"fmt"
	"slices"

	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/core/escrow"
)

// coverage tries every command on transactions in every state, allowed or not,
// and counts the pairs. What each pair must do is written down here anew.
type coverage struct {
	pairs map[string]int
}

func newCoverage() *coverage { return &coverage{pairs: map[string]int{}} }

// statuses are all states that a transaction can be found in.
var statuses = []admission.Status{
	admission.Queued, admission.Admitted, admission.Actioning, admission.Uncertain, admission.Operational,
	admission.Failed, admission.Rejected, admission.Stale, admission.Withdrawn,
}

// probe is a command about one transaction.
type probe struct {
	name    string
	command func(at admission.Stamp, tx admission.Tx) admission.Command
	// works are the states in which it changes something, and gives those that
	// the transaction may be in afterwards; nil is the state it was in.
	works, gives []admission.Status
	// done are the states in which it finds that done already.
	done []admission.Status
	// refusal is the error about an Uncertain transaction, where it is not
	// ErrStatus or ErrToken.
	refusal error
}

var probes = []probe{
	{
		name: "start", command: func(at admission.Stamp, tx admission.Tx) admission.Command {
			return admission.Start{Stamp: at, Tx: tx.ID, Token: tx.Token}
		},
		works: []admission.Status{admission.Admitted}, gives: []admission.Status{admission.Actioning},
		done: []admission.Status{admission.Actioning},
	},
	{
		name: "succeeded", command: completion(admission.Succeeded),
		works: []admission.Status{admission.Actioning, admission.Uncertain}, gives: []admission.Status{admission.Operational},
		done: []admission.Status{admission.Operational},
	},
	{
		name: "errored", command: completion(admission.Errored),
		works: []admission.Status{admission.Actioning, admission.Uncertain}, gives: []admission.Status{admission.Failed},
		done: []admission.Status{admission.Failed},
	},
	{
		name: "lost", command: completion(admission.Lost),
		works: []admission.Status{admission.Actioning}, gives: []admission.Status{admission.Uncertain},
		done: []admission.Status{admission.Uncertain},
	},
	{
		name: "not-sent", command: completion(admission.NotSent),
		works: []admission.Status{admission.Admitted, admission.Actioning, admission.Uncertain},
		gives: []admission.Status{admission.Withdrawn}, done: []admission.Status{admission.Withdrawn},
	},
	{
		name: "withdraw", command: func(at admission.Stamp, tx admission.Tx) admission.Command {
			return admission.Withdraw{Stamp: at, Tx: tx.ID}
		},
		works: []admission.Status{admission.Queued, admission.Admitted}, gives: []admission.Status{admission.Withdrawn},
		done: []admission.Status{admission.Withdrawn},
	},
	{
		name: "resolve", command: func(at admission.Stamp, tx admission.Tx) admission.Command {
			return admission.Resolve{Stamp: at, Tx: tx.ID, Actor: "a", Reason: "r"}
		},
		works: []admission.Status{admission.Uncertain}, gives: []admission.Status{admission.Operational, admission.Failed},
	},
	{
		name: "settle", command: func(at admission.Stamp, tx admission.Tx) admission.Command {
			late := admission.Stamp{Now: max(at.Now, tx.StartedAt+patience)}
			return reading(late, late.Now, tx)
		},
		works: []admission.Status{admission.Uncertain}, gives: []admission.Status{admission.Operational, admission.Failed},
	},
	{
		// The sender may still be trying: the read proves nothing.
		name: "settle-early", command: func(at admission.Stamp, tx admission.Tx) admission.Command {
			return reading(at, tx.StartedAt, tx)
		},
		refusal: admission.ErrUnsettled,
	},
	{
		name: "pass", command: func(at admission.Stamp, tx admission.Tx) admission.Command {
			return admission.Pass{Stamp: at, Tx: tx.ID, Mode: "override", By: "a", Reason: "r"}
		},
		works: []admission.Status{admission.Queued, admission.Rejected, admission.Stale},
		gives: []admission.Status{admission.Admitted},
	},
	{
		name: "deceased", command: func(at admission.Stamp, tx admission.Tx) admission.Command {
			return admission.Deceased{Stamp: at, Session: tx.Session}
		},
		works: statuses, gives: append([]admission.Status{admission.Uncertain}, statuses[4:]...),
	},
	{
		name: "measure", command: func(at admission.Stamp, tx admission.Tx) admission.Command {
			return admission.Measure{Stamp: at, Session: tx.Session, Readings: []admission.Reading{{Bucket: "q", Limit: escrow.At(1)}}}
		},
		works: statuses,
	},
}

// reading is a read that found nothing of the object.
func reading(at admission.Stamp, began int64, tx admission.Tx) admission.Command {
	return admission.Settle{
		Stamp: at, Session: tx.Session, Tx: tx.ID, Began: tx.StartedIndex, BeganAt: began, Terminal: true,
	}
}

func completion(r admission.Result) func(admission.Stamp, admission.Tx) admission.Command {
	return func(at admission.Stamp, tx admission.Tx) admission.Command {
		return admission.Complete{Stamp: at, Tx: tx.ID, Token: tx.Token, Result: r, Exists: tx.Exists}
	}
}

// try makes every probe on every transaction of a copy of the world.
func (c *coverage) try(w *world) *Violation {
	for i := range w.config.Ops {
		tx, ok := w.state.Tx(txID(i))
		if !ok || w.gone[w.config.Ops[i].Session] {
			continue
		}
		for _, p := range probes {
			c.pairs[p.name+" "+string(tx.Status)]++
			if v := tryOne(w, tx, p); v != nil {
				return v
			}
		}
	}
	return nil
}

func tryOne(w *world, tx admission.Tx, p probe) *Violation {
	s := w.state.Clone()
	before := s.Hash()
	events, err := s.Apply(p.command(w.tick(1), tx))
	what := fmt.Sprintf("%s on %s %s (%s): %v, %d events", p.name, tx.ID, tx.Status, tx.Cause, err, len(events))
	now, _ := s.Tx(tx.ID)
	works, done := slices.Contains(p.works, tx.Status), slices.Contains(p.done, tx.Status)
	switch {
	case works && (err != nil || len(events) == 0):
		return broken("Life", "refused: %s", what)
	case works && !slices.Contains(p.gives, now.Status) && (p.gives != nil || now.Status != tx.Status):
		return broken("Life", "leads to %s: %s", now.Status, what)
	case works:
		return nil
	case s.Hash() != before || len(events) > 0:
		return broken("Life", "changed something: %s", what)
	case done && tx.By == "" && tx.Token != 0 && err != nil:
		return broken("I27 SameKeySameAnswer", "%s", what)
	case p.refusal != nil && tx.Status == admission.Uncertain && !errors.Is(err, p.refusal):
		return broken("I18 UncertainKept", "wrong error: %s", what)
	case !done && !errors.Is(err, admission.ErrStatus) && !errors.Is(err, admission.ErrToken) && !errors.Is(err, p.refusal):
		return broken("Life", "wrong error: %s", what)
	}
	return nil
}

// missing are the pairs that were never tried.
func (c *coverage) missing() []string {
	var list []string
	for _, p := range probes {
		for _, s := range statuses {
			if k := p.name + " " + string(s); c.pairs[k] == 0 {
				list = append(list, k)
			}
		}
	}
	return list
}
