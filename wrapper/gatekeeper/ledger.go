// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package gatekeeper

import (
	"slices"
	"sync"

	"github.com/tfweaver/tfweaver/wrapper/views"
)

// ledger notes what the summary will tell.
type ledger struct {
	mu        sync.Mutex
	waits     []views.Waited
	refusals  []views.Refused
	uncertain []views.Uncertain
}

func (l *ledger) waited(w views.Waited) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.waits = append(l.waits, w)
}

func (l *ledger) refused(r views.Refused) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.refusals = append(l.refusals, r)
}

func (l *ledger) lost(u views.Uncertain) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.uncertain = append(l.uncertain, u)
}

func (l *ledger) summary() views.Summary {
	l.mu.Lock()
	defer l.mu.Unlock()
	return views.Summary{
		Waited: slices.Clone(l.waits), Refused: slices.Clone(l.refusals), Uncertain: slices.Clone(l.uncertain),
	}
}
