// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package gatekeeper

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/core/conflict"
	"github.com/tfweaver/tfweaver/wrapper/views"
)

// askWithin bounds a question at the end of a run that changes nothing any more.
const askWithin = 5 * time.Second

// Override is a person's word that one decision is to be passed.
type Override struct {
	// ID is the transaction whose wait or refusal the person saw. A forecast
	// that refuses has none yet: then it is the address of the change.
	ID admission.TxID
	// By and Reason are recorded. By is who runs this, as the session says.
	By, Reason string
}

// overriding is an override while it waits for the decision that it is about.
type overriding struct {
	gate *Gatekeeper
	word Override

	mu   sync.Mutex
	used bool
	// seen is the report of the decision that the person saw; nil as long as
	// nobody asked for it.
	seen *conflict.Report
	err  error
}

// take says whether the person's word is about what stands in the way of a
// request, and uses it up then: it passes one decision, not a run.
func (o *overriding) take(ctx context.Context, p *petition, now conflict.Report) (admission.Pass, bool) {
	if o.word.ID == "" {
		return admission.Pass{}, false
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.used || !o.meant(ctx, p, now) {
		return admission.Pass{}, false
	}
	o.used = true
	return admission.Pass{Mode: views.Overridden, By: o.word.By, Reason: o.word.Reason, Of: o.word.ID}, true
}

// meant says whether the person saw a decision about the same object and
// action. The lock is held.
func (o *overriding) meant(ctx context.Context, p *petition, now conflict.Report) bool {
	if isAddress(o.word.ID) {
		return string(o.word.ID) == p.request.Address || string(o.word.ID) == p.taken
	}
	if o.seen == nil {
		report, _, err := o.gate.explain(ctx, o.word.ID)
		if o.err = err; err != nil {
			return false // maybe the next one finds it
		}
		o.seen = &report
	}
	if o.seen.Action != string(p.request.Action) {
		return false
	}
	if id := p.request.Self; id != "" && !pending(string(id)) && o.seen.Object != nil && !pending(o.seen.Object.CloudID) {
		return o.seen.Object.CloudID == string(id)
	}
	// What only the cloud will name, and the reservation of a whole plan, are
	// known by address and state.
	return o.seen.Address == p.request.Address && o.seen.Requester.State == now.Requester.State
}

// isAddress tells an address of Terraform's, which has a type and a name, from a
// transaction.
func isAddress(id admission.TxID) bool { return strings.Contains(string(id), ".") }

func pending(id string) bool { return strings.HasPrefix(id, "~pending/") }

// unused is a warning about a word that was about nothing; ok is false when it
// was used, or there was none.
func (o *overriding) unused(ctx context.Context) (problem views.Problem, ok bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.word.ID == "" || o.used {
		return views.Problem{}, false
	}
	if o.seen == nil && o.err == nil && !isAddress(o.word.ID) { // nothing was in the way
		ctx, cancel := context.WithTimeout(ctx, askWithin)
		defer cancel()
		_, _, o.err = o.gate.explain(ctx, o.word.ID)
	}
	detail := fmt.Sprintf("No change of this run waited or was refused for the object and the action that %s was about, so nothing was overridden.", o.word.ID)
	switch {
	case errors.Is(o.err, admission.ErrNoTx):
		detail = fmt.Sprintf("The coordinator knows of no decision %s, so nothing was overridden. \"tfweaver report\" lists those that it knows of; those of another coordinator are listed with -weaver-coordinator.", o.word.ID)
	case o.err != nil:
		detail = fmt.Sprintf("What %s was about could not be looked up (%v), so nothing was overridden.", o.word.ID, o.err)
	}
	return views.Problem{Warning: true, Summary: "The override was not used", Detail: detail}, true
}
