// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package explore

import (
	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/core/graph"
)

// report is what of a decision has to be judged by what is true in the cloud.
type report struct {
	granted uint8     // operations
	over    []passing // of them, who passed an earlier waiter
	refused []grounds
	broken  uint8 // objects that are reported as half replaced
}

// passing is a grant over an earlier waiter that the operation disturbs.
type passing struct{ granted, waiter uint8 }

// grounds are what a refusal gives as its reasons.
type grounds struct {
	op  uint8
	why []admission.Blocker
}

// judge checks a decision by itself, and collects what the cloud has to judge.
func judge(c *Config, before, after *node, x command, events []admission.Event) (*report, *Violation) {
	var r report
	last := lastToken(c, before)
	for _, e := range events {
		var v *Violation
		switch e := e.(type) {
		case admission.TxAdmitted:
			if v = checkToken(e.Tx, e.Token, last); v == nil {
				r.grant(c, after, e.Tx)
			}
			last = e.Token
		case admission.TxPassed:
			v = checkToken(e.Tx, e.Token, last)
			last = e.Token
		case admission.TxQueued:
			v = checkAttribution(after, e.Tx, e.Blockers)
		case admission.TxRejected:
			v = r.refuse(e)
		case admission.TxStaled:
			if len(e.Blockers) == 0 || e.Blockers[0].Guard != admission.Version {
				v = broken("I17 Attribution", "%s is stale without a version", e.Tx)
			}
		case admission.TxEnded:
			v = checkFate(before, e.Tx, x)
		case admission.ClaimEnded:
			r.half(c, e.Broken)
		}
		if v != nil {
			return nil, v
		}
	}
	if v := checkOverdraft(c, before, after, x); v != nil {
		return nil, v
	}
	if r.granted == 0 && r.over == nil && r.refused == nil && r.broken == 0 {
		return nil, nil
	}
	return &r, nil
}

// lastToken is the highest that a transaction of the configuration has.
func lastToken(c *Config, n *node) uint64 {
	var last uint64
	for i := range c.Ops {
		if tx, ok := n.state.Tx(txID(i)); ok {
			last = max(last, tx.Token)
		}
	}
	for s := range c.Sessions {
		if tx, ok := n.state.Tx(planID(s)); ok {
			last = max(last, tx.Token)
		}
	}
	return last
}

func checkToken(id admission.TxID, token, last uint64) *Violation {
	if token <= last {
		return broken("I10 TokenMonotone", "%s got token %d after %d", id, token, last)
	}
	return nil
}

// grant notes a grant, and the earlier waiters that it passed.
func (r *report) grant(c *Config, after *node, id admission.TxID) {
	i := numberOf(id)
	if i < 0 {
		return
	}
	r.granted |= 1 << i
	tx, _ := after.state.Tx(id)
	if _, claimed := after.state.ClaimOf(id); claimed {
		return // its claim was granted before
	}
	for _, w := range after.state.Waiting() {
		j := numberOf(w)
		if j < 0 || c.disturb[i]&(1<<j) == 0 {
			continue
		}
		other, _ := after.state.Tx(w)
		if _, claimed := after.state.ClaimOf(w); claimed || c.planned(i) && other.Session == tx.Session {
			continue // what waits inside a claim waits for its own run
		}
		if rank(other) < rank(tx) {
			r.over = append(r.over, passing{uint8(i), uint8(j)})
		}
	}
}

func rank(tx admission.Tx) uint64 {
	if tx.Rank != 0 {
		return tx.Rank
	}
	return tx.Ticket
}

func (r *report) refuse(e admission.TxRejected) *Violation {
	if len(e.Blockers) == 0 {
		return broken("I17 Attribution", "%s is refused for no reason", e.Tx)
	}
	if i := numberOf(e.Tx); i >= 0 {
		r.refused = append(r.refused, grounds{uint8(i), e.Blockers})
	}
	return nil
}

func (r *report) half(c *Config, list []graph.NodeID) {
	for _, id := range list {
		if i := c.number(id); i >= 0 {
			r.broken |= 1 << i
		}
	}
}

// checkAttribution: a wait says what for, and for whom.
func checkAttribution(n *node, id admission.TxID, why []admission.Blocker) *Violation {
	if len(why) == 0 {
		return broken("I17 Attribution", "%s waits for no reason", id)
	}
	for _, b := range why {
		named := b.Guard != "" && b.Fact != "" || b.Want != "" && b.Held != "" && b.Holder != "" || b.Capacity != nil
		if b.Node == "" && b.Capacity == nil || !named || b.Holder == id {
			return broken("I17 Attribution", "%s waits, reason %+v", id, b)
		}
		if b.Holder == "" || b.Guard != "" || b.Claim != "" || b.Capacity != nil {
			continue
		}
		h, _ := n.state.Tx(b.Holder)
		if b.HolderSession != h.Session || b.HolderIntent != h.Intent || b.Ahead == h.Status.Holds() {
			return broken("I17 Attribution", "%s waits, reason %+v, but %s is %s", id, b, h.ID, h.Status)
		}
	}
	return nil
}

// checkFate: only an answer about a running call, or somebody who looked, ends
// it.
func checkFate(before *node, id admission.TxID, x command) *Violation {
	i := numberOf(id)
	if i < 0 || before.status[i] != actioning && before.status[i] != uncertain {
		return nil
	}
	if int(x.who) == i && (x.verb == cDone || x.verb == cResolve || x.verb == cSettle) {
		return nil
	}
	return broken("I18 UncertainKept", "%s was %s and ended by %s", id, statuses[before.status[i]], x)
}

// checkOverdraft: nothing but a reading, or somebody who goes on whatever is in
// the way, brings a bucket over its limit.
func checkOverdraft(c *Config, before, after *node, x command) *Violation {
	if !c.Capacity || x.verb == cMeter || x.verb == cLimit || x.verb == cPass || before.passed|c.watchers() != 0 {
		return nil
	}
	for b := range buckets {
		if l := after.state.Capacity().Level(bucketKey(b)); l.Overcommitted && !before.over[b] {
			return broken("I5 EscrowSup", "%s brings bucket %d over its limit: %+v", x, b, l)
		}
	}
	return nil
}

// watchers are the sessions that go on whatever is in their way.
func (c *Config) watchers() uint8 {
	var bits uint8
	for s, x := range c.Sessions {
		if x.Watch {
			bits |= 1 << s
		}
	}
	return bits
}
