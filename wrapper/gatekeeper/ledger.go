// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package gatekeeper

import (
	"slices"
	"sync"

	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/core/conflict"
	"github.com/tfweaver/tfweaver/wrapper/views"
)

// ledger notes what the summary will tell.
type ledger struct {
	mu        sync.Mutex
	waits     []views.Waited
	refusals  []views.Refused
	uncertain []views.Uncertain
	passes    []views.Passed
	settles   []views.Settled
	// inWay are the other sessions that were in the way, in order.
	inWay []string
	// silent are the calls that the CLI has learned nothing good of, created the
	// objects that it has heard of, and unsent the calls that a provider was to
	// get which had died.
	silent, created []made
	unsent          []string
	// left are the objects left behind, the first leftTold of which were told;
	// failed are the addresses whose create failed.
	left     []views.LeftBehind
	leftTold int
	failed   []string
}

// blame notes sessions that were in the way; the lock is held.
func (l *ledger) blame(parties []views.Party) {
	for _, p := range parties {
		if !slices.Contains(l.inWay, p.Session) {
			l.inWay = append(l.inWay, p.Session)
		}
	}
}

func (l *ledger) waited(w views.Waited) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.waits = append(l.waits, w)
	l.blame(w.Holders)
}

func (l *ledger) refused(r views.Refused) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.refusals = append(l.refusals, r)
	if r.Report != nil && len(r.OwnState) == 0 {
		l.blame(live(*r.Report))
	}
}

func (l *ledger) lost(u views.Uncertain) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.uncertain = append(l.uncertain, u)
}

func (l *ledger) passed(p views.Passed) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.passes = append(l.passes, p)
	if p.Report != nil {
		l.blame(live(*p.Report))
	}
}

// settled notes a call whose outcome is known by now, also if it is one of this
// run's own.
func (l *ledger) settled(s views.Settled) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.settles = append(l.settles, s)
	l.learn(admission.TxID(s.Tx), s.Exists)
	l.uncertain = slices.DeleteFunc(l.uncertain, func(u views.Uncertain) bool { return u.Tx == s.Tx })
}

func (l *ledger) summary() views.Summary {
	l.mu.Lock()
	defer l.mu.Unlock()
	return views.Summary{
		Waited: slices.Clone(l.waits), Refused: slices.Clone(l.refusals), Uncertain: slices.Clone(l.uncertain),
		Passed: slices.Clone(l.passes), Settled: slices.Clone(l.settles), InWay: slices.Clone(l.inWay),
		NotSent: slices.Clone(l.unsent), LeftBehind: l.inTheWayOf(),
	}
}

// live are the other sessions of a report that were at work, not those that
// left something behind once.
func live(r conflict.Report) []views.Party {
	r.Conflicts = slices.DeleteFunc(slices.Clone(r.Conflicts), func(c conflict.Conflict) bool {
		return c.Holder != nil && c.Holder.State == conflict.Ended
	})
	return views.Foreign(r)
}
