// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package explore

import (
	"errors"
	"fmt"
	"slices"

	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/core/escrow"
	"github.com/tfweaver/tfweaver/internal/core/graph"
)

// coverage tries every command on the transactions of every state, allowed or
// not, and counts the pairs of command and status. What each pair must do is
// written down here anew.
type coverage struct {
	pairs map[string]int
	// keen is how often a pair is tried that changes something; what must change
	// nothing is tried always.
	keen int
}

func newCoverage(keen int) *coverage { return &coverage{pairs: map[string]int{}, keen: keen} }

// probe is a command about one transaction.
type probe struct {
	name    string
	command func(at admission.Stamp, tx *admission.Tx) admission.Command
	// works are the states in which it changes something, and gives those that
	// the transaction may be in afterwards; nil is the state it was in.
	works, gives []admission.Status
	// done are the states in which it finds that done already.
	done []admission.Status
	// ends is that the session of the transaction ends, and wakes that somebody
	// who waits may wait no longer, if anything changes at all.
	ends, wakes bool
	// refusal is the error where it is not ErrStatus or ErrToken.
	refusal error
}

var probes = []probe{
	{
		name: "start", command: func(at admission.Stamp, tx *admission.Tx) admission.Command {
			return admission.Start{Stamp: at, Tx: tx.ID, Token: tx.Token}
		},
		works: []admission.Status{admission.Admitted}, gives: []admission.Status{admission.Actioning},
		done: []admission.Status{admission.Actioning},
	},
	{
		name: "start-under-another-token", command: func(at admission.Stamp, tx *admission.Tx) admission.Command {
			return admission.Start{Stamp: at, Tx: tx.ID, Token: tx.Token + 1}
		},
		refusal: admission.ErrToken,
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
		name: "withdraw", command: func(at admission.Stamp, tx *admission.Tx) admission.Command {
			return admission.Withdraw{Stamp: at, Tx: tx.ID}
		},
		works: []admission.Status{admission.Queued, admission.Admitted}, gives: []admission.Status{admission.Withdrawn},
		done: []admission.Status{admission.Withdrawn},
	},
	{
		name: "resolve", command: func(at admission.Stamp, tx *admission.Tx) admission.Command {
			return admission.Resolve{Stamp: at, Tx: tx.ID, Actor: "a", Reason: "r"}
		},
		works: []admission.Status{admission.Uncertain}, gives: []admission.Status{admission.Operational, admission.Failed},
	},
	{
		name: "settle", command: func(at admission.Stamp, tx *admission.Tx) admission.Command {
			return reading(at, at.Now, tx)
		},
		works: []admission.Status{admission.Uncertain}, gives: []admission.Status{admission.Operational, admission.Failed},
	},
	{
		// The sender may still be trying: the read proves nothing.
		name: "settle-early", command: func(at admission.Stamp, tx *admission.Tx) admission.Command {
			return reading(at, tx.StartedAt, tx)
		},
		refusal: admission.ErrUnsettled,
	},
	{
		name: "pass", command: func(at admission.Stamp, tx *admission.Tx) admission.Command {
			return admission.Pass{Stamp: at, Tx: tx.ID, Mode: "override", By: "a", Reason: "r"}
		},
		works: []admission.Status{admission.Queued, admission.Rejected, admission.Stale},
		gives: []admission.Status{admission.Admitted},
	},
	{
		name: "deceased", command: func(at admission.Stamp, tx *admission.Tx) admission.Command {
			return admission.Deceased{Stamp: at, Session: tx.Session}
		},
		works: statuses[1:], ends: true,
	},
	{
		name: "close", command: func(at admission.Stamp, tx *admission.Tx) admission.Command {
			return admission.CloseSession{Stamp: at, Session: tx.Session}
		},
		works: statuses[1:], ends: true,
	},
	{
		name: "expire", command: func(at admission.Stamp, _ *admission.Tx) admission.Command {
			return admission.Expire{Stamp: admission.Stamp{Now: at.Now + 2*lease}}
		},
		works: statuses[1:], ends: true,
	},
	{
		name: "renew", command: func(at admission.Stamp, tx *admission.Tx) admission.Command {
			return admission.Renew{Stamp: at, Session: tx.Session}
		},
		works: statuses[1:],
	},
	{
		name: "add-intent", command: func(at admission.Stamp, tx *admission.Tx) admission.Command {
			return admission.AddIntent{Stamp: at, Intent: admission.Intent{ID: "probe", Session: tx.Session, Objective: "another"}}
		},
		works: statuses[1:],
	},
	{
		name: "declare", command: func(at admission.Stamp, tx *admission.Tx) admission.Command {
			return admission.Declare{Stamp: at, Session: tx.Session, Creates: place("r/probe"), Selves: []graph.NodeID{"r/probe"}}
		},
		works: statuses[1:], wakes: true,
	},
	{
		name: "observe", command: func(at admission.Stamp, _ *admission.Tx) admission.Command {
			return admission.Observe{Stamp: at, Session: observer, Nodes: placed("r/probe"), Objects: []admission.Observation{
				{Decl: place("r/probe")[1], Exists: true},
			}}
		},
		works: statuses[1:], wakes: true,
	},
	{
		name: "measure", command: func(at admission.Stamp, tx *admission.Tx) admission.Command {
			return admission.Measure{Stamp: at, Session: tx.Session, Readings: []admission.Reading{{Bucket: "q", Limit: escrow.At(1)}}}
		},
		works: statuses[1:],
	},
	{
		// The same request arrives again.
		name: "submit", command: func(at admission.Stamp, tx *admission.Tx) admission.Command {
			return admission.Submit{Stamp: at, ID: tx.ID, Request: tx.Request}
		},
		works: []admission.Status{admission.Stale}, gives: statuses[1:],
		done: []admission.Status{
			admission.Queued, admission.Admitted, admission.Actioning, admission.Uncertain, admission.Operational,
			admission.Failed, admission.Rejected, admission.Withdrawn,
		},
	},
}

// reading is a read that found nothing of the object.
func reading(at admission.Stamp, began int64, tx *admission.Tx) admission.Command {
	return admission.Settle{
		Stamp: at, Session: observer, Tx: tx.ID, Began: tx.StartedIndex, BeganAt: began, Terminal: true,
	}
}

func completion(r admission.Result) func(admission.Stamp, *admission.Tx) admission.Command {
	return func(at admission.Stamp, tx *admission.Tx) admission.Command {
		return admission.Complete{Stamp: at, Tx: tx.ID, Token: tx.Token, Result: r, Exists: tx.Exists}
	}
}

// try makes the probes on every transaction of a state. Those that must change
// nothing are made on the state itself: nothing may be counted then and, where it
// is looked at closely, its hash must be what it was.
func (v *coverage) try(c *Config, n *node, closely bool) *Violation {
	index := n.state.Index()
	for i := range c.Ops {
		tx, ok := n.state.Tx(txID(i))
		if !ok || n.ended&(1<<c.Ops[i].Session) != 0 {
			continue
		}
		for p := range probes {
			if v := v.probe(n, &tx, &probes[p]); v != nil {
				return v
			}
			if n.state.Index() != index {
				return broken("Life", "%s on %s %s changed something", probes[p].name, tx.ID, tx.Status)
			}
		}
	}
	if closely && n.state.Hash() != n.hash {
		return broken("I27 SameKeySameAnswer", "commands that were refused changed something")
	}
	return nil
}

func (v *coverage) probe(n *node, tx *admission.Tx, p *probe) *Violation {
	pair := p.name + " " + string(tx.Status)
	works := slices.Contains(p.works, tx.Status)
	if works && v.pairs[pair] >= v.keen {
		return nil
	}
	v.pairs[pair]++
	s := n.state
	if works {
		s = s.Clone()
		if p.name == "settle" {
			// Nobody goes on trying for so long.
			late := admission.Stamp{Now: max(s.Now(), tx.StartedAt+admission.DefaultTimeout)}
			_, _ = s.Apply(admission.Renew{Stamp: late, Session: observer})
		}
	}
	events, err := s.Apply(p.command(admission.Stamp{Now: s.Now() + 1}, tx))
	now, _ := s.Tx(tx.ID)
	return p.judge(tx, now.Status, events, err)
}

// judge compares what a probe did with what it must do.
func (p *probe) judge(tx *admission.Tx, now admission.Status, events []admission.Event, err error) *Violation {
	what := func() string {
		return fmt.Sprintf("%s on %s %s (%s): %v, %d events", p.name, tx.ID, tx.Status, tx.Cause, err, len(events))
	}
	works, done := slices.Contains(p.works, tx.Status), slices.Contains(p.done, tx.Status)
	switch {
	case works && p.name == "submit" && tx.Plan != "" && err != nil:
		return nil // its plan may be over
	case works && (err != nil || len(events) == 0):
		return broken("Life", "refused: %s", what())
	case works && !p.leads(tx.Status, now):
		return broken("Life", "leads to %s: %s", now, what())
	case works:
		return nil
	case len(events) > 0:
		return broken("Life", "changed something: %s", what())
	case done && tx.By == "" && (tx.Token != 0 || p.name == "submit") && err != nil:
		return broken("I27 SameKeySameAnswer", "%s", what())
	case done:
		return nil
	case p.refusal != nil && tx.Status == admission.Uncertain && !errors.Is(err, p.refusal):
		return broken("I18 UncertainKept", "wrong error: %s", what())
	case err == nil && p.name == "pass" && tx.Passed != nil && !tx.Status.Final():
		return nil // said twice
	case err == nil && p.refusal == admission.ErrUnsettled && tx.Status.Final() && tx.Cause == "read":
		return nil // somebody else was first
	case !errors.Is(err, admission.ErrStatus) && !errors.Is(err, admission.ErrToken) && !errors.Is(err, p.refusal) &&
		!errors.Is(err, admission.ErrDuplicate):
		return broken("Life", "wrong error: %s", what())
	}
	return nil
}

// leads says whether a transaction may be in a state after a probe that works.
func (p *probe) leads(before, after admission.Status) bool {
	switch {
	case p.ends && (before == admission.Queued || before == admission.Admitted):
		return after == admission.Withdrawn
	case p.ends && before == admission.Actioning:
		return after == admission.Uncertain
	case p.wakes && before == admission.Queued:
		return true
	case p.gives == nil:
		return after == before
	default:
		return slices.Contains(p.gives, after)
	}
}

// Missing are the pairs that were never tried.
func (v *coverage) missing() []string {
	var list []string
	for _, p := range probes {
		for _, s := range statuses[1:] {
			if k := p.name + " " + string(s); v.pairs[k] == 0 {
				list = append(list, k)
			}
		}
	}
	return list
}
