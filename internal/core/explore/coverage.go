// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package explore

import (
	"errors"
	"fmt"

	"github.com/tfweaver/tfweaver/internal/core/admission"
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

// probes are the commands about one transaction, with the states in which
// they change something, and those in which they find it done already.
var probes = []struct {
	name    string
	command func(at admission.Stamp, tx admission.Tx) admission.Command
	works   []admission.Status
	done    []admission.Status
}{
	{
		"start", func(at admission.Stamp, tx admission.Tx) admission.Command {
			return admission.Start{Stamp: at, Tx: tx.ID, Token: tx.Token}
		},
		[]admission.Status{admission.Admitted},
		[]admission.Status{admission.Actioning},
	},
	{
		"succeeded", completion(admission.Succeeded),
		[]admission.Status{admission.Actioning, admission.Uncertain},
		[]admission.Status{admission.Operational},
	},
	{
		"errored", completion(admission.Errored),
		[]admission.Status{admission.Actioning, admission.Uncertain},
		[]admission.Status{admission.Failed},
	},
	{
		"lost", completion(admission.Lost),
		[]admission.Status{admission.Actioning},
		[]admission.Status{admission.Uncertain},
	},
	{
		"not-sent", completion(admission.NotSent),
		[]admission.Status{admission.Admitted, admission.Actioning, admission.Uncertain},
		[]admission.Status{admission.Withdrawn},
	},
	{
		"withdraw", func(at admission.Stamp, tx admission.Tx) admission.Command {
			return admission.Withdraw{Stamp: at, Tx: tx.ID}
		},
		[]admission.Status{admission.Queued, admission.Admitted},
		[]admission.Status{admission.Withdrawn},
	},
	{
		"resolve", func(at admission.Stamp, tx admission.Tx) admission.Command {
			return admission.Resolve{Stamp: at, Tx: tx.ID, Actor: "a", Reason: "r"}
		},
		[]admission.Status{admission.Uncertain},
		nil,
	},
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
			if v := tryOne(w, tx, p.name, p.command(w.tick(1), tx), has(p.works, tx.Status), has(p.done, tx.Status)); v != nil {
				return v
			}
		}
	}
	return nil
}

func tryOne(w *world, tx admission.Tx, name string, c admission.Command, works, done bool) *Violation {
	s := w.state.Clone()
	before := s.Hash()
	events, err := s.Apply(c)
	what := fmt.Sprintf("%s on %s %s (%s): %v, %d events", name, tx.ID, tx.Status, tx.Cause, err, len(events))
	switch {
	case works && (err != nil || len(events) == 0):
		return broken("Life", "refused: %s", what)
	case works:
		return nil
	case s.Hash() != before || len(events) > 0:
		return broken("Life", "changed something: %s", what)
	case done && tx.By == "" && tx.Token != 0 && err != nil:
		return broken("I27 SameKeySameAnswer", "%s", what)
	case !done && !errors.Is(err, admission.ErrStatus) && !errors.Is(err, admission.ErrToken):
		return broken("Life", "wrong error: %s", what)
	}
	return nil
}

func has(list []admission.Status, s admission.Status) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
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
