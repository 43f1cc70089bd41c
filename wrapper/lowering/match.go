// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package lowering

import (
	"cmp"
	"slices"

	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/ruleengine"
	"github.com/tfweaver/tfweaver/wrapper/intercept"
	"github.com/zclconf/go-cty/cty"
)

// Match gives a call the address of the change that it belongs to, and takes
// that change out of the ones still to come. It is empty when no change fits.
//
// Updates and deletes are known by their prior state, creates by their planned
// one, where anything may stand for what the plan did not know. Where several
// changes fit alike, such as the instances of a counted resource that differ in
// nothing yet, the first one is taken: they are interchangeable until the cloud
// has given them ids. A change that foresaw more of the call goes first.
func (p *Plan) Match(call intercept.Call) string {
	_, address := p.MatchCall(call)
	return address
}

// MatchCall does what Match does, and returns also the id of the planned call.
// Both are empty when no change fits.
func (p *Plan) MatchCall(call intercept.Call) (id admission.CallID, address string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	fits := p.ready(p.fitting(call))
	if len(fits) == 0 {
		return "", ""
	}
	fits[0].done = true
	return fits[0].id, fits[0].op.Address
}

// Succeeded tells of a call that it has ended well. Of creates that are alike,
// only those can be under way whose own first halves have: without being told,
// one of a replace could be taken for that of another.
func (p *Plan) Succeeded(id admission.CallID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.succeeded == nil {
		p.succeeded = map[admission.CallID]bool{}
	}
	p.succeeded[id] = true
}

// ready are the steps among those that fit that can be under way by now; all
// when nobody has told of successes. Called with mu held.
func (p *Plan) ready(fits []*step) []*step {
	var ready []*step
	for _, s := range fits {
		if !slices.ContainsFunc(s.after, func(id admission.CallID) bool { return !p.succeeded[id] }) {
			ready = append(ready, s)
		}
	}
	if p.succeeded == nil || len(ready) == 0 {
		return fits
	}
	return ready
}

// Candidates are the addresses of all changes that a call may belong to, the
// one that Match would take first.
func (p *Plan) Candidates(call intercept.Call) []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var addresses []string
	for _, s := range p.fitting(call) {
		addresses = append(addresses, s.op.Address)
	}
	return addresses
}

// fitting are the steps still to come that a call may be: those with its
// values, else those with its id, which a provider may have refreshed since.
func (p *Plan) fitting(call intercept.Call) []*step {
	action := actionOf(call.Action)
	texts := textsOf(deciding(action, call.Prior, call.Planned))
	var byValue, byID []*step
	for _, s := range p.byKey[stepKey{call.Provider, call.Type, action}] {
		switch {
		case s.done:
		case s.print.admits(texts) && s.fits(call):
			byValue = append(byValue, s)
		case sameID(s.op.Prior, call.Prior): // never for a create, which has no prior
			byID = append(byID, s)
		}
	}
	if len(byValue) > 0 {
		slices.SortStableFunc(byValue, func(a, b *step) int { return cmp.Compare(a.guesswork(call), b.guesswork(call)) })
		return byValue
	}
	return byID
}

// guesswork is how little of a call that fits a step the step foresaw: first
// whether the references it could resolve are the call's, then for how many
// attributes anything would have done.
func (s *step) guesswork(call intercept.Call) int {
	const wrongGuess = 1 << 20
	n := wildcards(s.planned, call.Planned)
	if !fits(s.op.Planned, call.Planned) {
		n += wrongGuess
	}
	return n
}

// wildcards counts the attributes that a plan left open and a call has.
func wildcards(planned, actual cty.Value) int {
	if !isObject(planned) || !isObject(actual) {
		return 0
	}
	n := 0
	have := bare(actual).AsValueMap()
	for name, v := range bare(planned).AsValueMap() {
		if other, ok := have[name]; ok && !bare(v).IsKnown() && bare(other).IsKnown() {
			n++
		}
	}
	return n
}

func (s *step) fits(call intercept.Call) bool {
	switch s.op.Action {
	case admission.Create:
		return fits(s.planned, call.Planned)
	case admission.Update:
		return fits(s.op.Prior, call.Prior) && fits(s.planned, call.Planned)
	default:
		return fits(s.op.Prior, call.Prior)
	}
}

// deciding is the state by which a call is known.
func deciding(action admission.Action, prior, planned cty.Value) cty.Value {
	if action == admission.Create {
		return planned
	}
	return prior
}

// fingerprint is the known top-level texts of a state: a cheap test that tells
// apart most of the thousands of changes of a large plan.
type fingerprint []attributeText

type attributeText struct{ name, text string }

func fingerprintOf(state cty.Value) fingerprint {
	var print fingerprint
	for name, text := range textsOf(state) {
		print = append(print, attributeText{name, text})
	}
	return print
}

// admits says whether a state with these texts may be the one.
func (f fingerprint) admits(texts map[string]string) bool {
	for _, a := range f {
		if texts[a.name] != a.text {
			return false
		}
	}
	return true
}

// textsOf are the known, non-empty texts among the attributes of a state.
func textsOf(state cty.Value) map[string]string {
	texts := map[string]string{}
	if !isObject(state) {
		return texts
	}
	for name, v := range bare(state).AsValueMap() {
		if v = bare(v); v.IsKnown() && !v.IsNull() && v.Type() == cty.String && v.AsString() != "" {
			texts[name] = v.AsString()
		}
	}
	return texts
}

func actionOf(a intercept.Action) admission.Action { return admission.Action(a) }

// Operation is a call in neutral form. Pending nodes get their names from the
// session, which the caller adds.
func Operation(call intercept.Call, address string) ruleengine.Operation {
	op := ruleengine.Operation{
		Provider: call.Provider, ProviderConfig: call.ProviderConfig, Type: call.Type,
		Action: actionOf(call.Action), Address: address, Prior: call.Prior, Planned: call.Planned,
		Sensitive: cty.NewPathSet(),
	}
	if call.Schema != nil {
		op.Sensitive = op.Sensitive.Union(orEmpty(call.Schema.Sensitive))
	}
	return op
}
