// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package lowering

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/ruleengine"
	"github.com/tfweaver/tfweaver/wrapper/intercept"
	"github.com/zclconf/go-cty/cty"
)

// Match is what is known of which call of a plan a provider call is. The zero
// value is that of a call that no plan foresees.
type Match struct {
	// ID and Address are those of the call that it is taken for; each call of the
	// plan is taken once. They are empty when none is left that it may be.
	//
	// Where several fit alike the choice is arbitrary, such as among the
	// instances of a counted resource that differ in nothing: they are
	// interchangeable until the cloud has given them ids. Name says so.
	ID      admission.CallID
	Address string

	// among are all calls of the plan that it may be.
	among []*step
	key   stepKey
}

// MatchOf is the match of a call that may be any of some, the first of which it
// is taken for.
func MatchOf(calls ...PlannedCall) Match {
	var m Match
	for i, c := range calls {
		s := &step{number: i, id: c.ID, op: c.Operation}
		s.op.Address = c.Address
		m.among = append(m.among, s)
	}
	if len(calls) > 0 {
		m.ID, m.Address = calls[0].ID, calls[0].Address
	}
	return m
}

// Certain says whether the call can be no other one of the plan.
func (m Match) Certain() bool { return len(m.among) == 1 }

// Among are the ids of all calls of the plan that it may be, in the plan's order.
func (m Match) Among() []admission.CallID {
	ids := make([]admission.CallID, len(m.among))
	for i, s := range m.among {
		ids[i] = s.id
	}
	return ids
}

// Addresses are those of all changes that the call may belong to, in the plan's
// order.
func (m Match) Addresses() []string {
	addresses := make([]string, len(m.among))
	for i, s := range m.among {
		addresses[i] = s.op.Address
	}
	return addresses
}

// maxAmong bounds how many addresses a name lists.
const maxAmong = 4

// Name is the address for people, and what is known of it where it is not
// certain: "one of simcloud_subnet.s[0], simcloud_subnet.s[1]". It never names
// an address alone that may be wrong. Empty when nothing is known.
func (m Match) Name() string {
	if len(m.among) < 2 {
		return strings.Join(m.Addresses(), "")
	}
	var named []string
	for _, s := range m.among[:min(len(m.among), maxAmong)] {
		named = append(named, s.op.Address)
	}
	text := "one of " + strings.Join(named, ", ")
	if more := len(m.among) - len(named); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// MatchCall finds the change that a call belongs to, and takes it out of the
// ones still to come.
//
// Updates and deletes are known by their prior state, creates by their planned
// one, where anything may stand for what the plan did not know: the CLI plans
// again before it applies, and knows more by then.
func (p *Plan) MatchCall(call intercept.Call) Match {
	p.mu.Lock()
	defer p.mu.Unlock()
	m := Match{key: stepKey{call.Provider, call.Type, actionOf(call.Action)}}
	g := p.byKey[m.key]
	if g == nil {
		return m
	}
	ranked := p.ready(p.configured(g.fitting(call), call))
	if len(ranked) == 0 {
		return m
	}
	m.among = inOrder(ranked)
	if m.Certain() {
		ranked[0].sure = true
	}
	for _, s := range ranked {
		if !s.taken {
			s.taken = true
			m.ID, m.Address = s.id, s.op.Address
			break
		}
	}
	return m
}

// inOrder are steps in the order of their plan.
func inOrder(steps []*step) []*step {
	byNumber := func(a, b *step) int { return a.number - b.number }
	if slices.IsSortedFunc(steps, byNumber) {
		return steps
	}
	steps = slices.Clone(steps)
	slices.SortFunc(steps, byNumber)
	return steps
}

// Succeeded tells of a call that it has ended well. Of creates that are alike,
// only those can be under way whose own first halves have: without being told,
// one of a replace could be taken for that of another.
func (p *Plan) Succeeded(m Match) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.succeeded == nil {
		p.succeeded = map[admission.CallID]bool{}
	}
	may := m.among
	if g := p.byKey[m.key]; len(may) == 0 && g != nil { // it may have been any
		may = g.steps
	}
	for _, s := range may {
		if s.awaited {
			p.succeeded[s.id] = true
		}
	}
}

// ready are the steps among those that fit that can be under way by now; all
// when nobody has told of successes. Called with mu held.
func (p *Plan) ready(fits []*step) []*step {
	if p.succeeded == nil || !slices.ContainsFunc(fits, p.early) {
		return fits
	}
	ready := slices.DeleteFunc(slices.Clone(fits), p.early)
	if len(ready) == 0 {
		return fits
	}
	return ready
}

// early says whether a step has to wait for one that cannot have succeeded.
func (p *Plan) early(s *step) bool {
	return slices.ContainsFunc(s.after, func(id admission.CallID) bool { return !p.succeeded[id] })
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
