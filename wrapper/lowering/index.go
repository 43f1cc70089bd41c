// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package lowering

import (
	"cmp"
	"slices"

	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/wrapper/intercept"
	"github.com/zclconf/go-cty/cty"
)

// group is the steps of a plan that have provider, type and action in common,
// in a form that the one of a call is found in quickly: a plan may have
// thousands of each, and as many calls.
type group struct {
	steps []*step
	// classes are the steps that cannot be told apart.
	classes []*class
	// attribute is the one whose text tells most classes apart, byText the
	// classes by that. open are those of which it is not known.
	attribute string
	byText    map[string][]*class
	open      []*class
	// byID are the steps by the id of their object.
	byID map[string][]*step
}

// class is steps that foresee the same values, such as the instances of a
// counted resource that does not use its index.
type class struct {
	steps []*step
	// print is what the deciding state of a call must have at least.
	print fingerprint
}

// likeness says which steps are of one class.
type likeness struct {
	values [32]byte
	// resolved is the step's own number where more is known of it than its
	// values say.
	resolved int
}

func (g *group) add(s *step) {
	g.steps = append(g.steps, s)
	if id, ok := idOf(s.op.Prior); ok {
		g.byID[id] = append(g.byID[id], s)
	}
}

// finish makes the index, when all steps are there and resolved.
func (g *group) finish() {
	classes := map[likeness]*class{}
	for _, s := range g.steps {
		key := likeness{values: s.likeness, resolved: -1}
		if s.resolved {
			key.resolved = s.number
		}
		if classes[key] == nil {
			classes[key] = &class{print: fingerprintOf(s.deciding())}
			g.classes = append(g.classes, classes[key])
		}
		classes[key].steps = append(classes[key].steps, s)
	}
	g.attribute = g.telling()
	for _, c := range g.classes {
		if text, known := c.print[g.attribute]; known {
			g.byText[text] = append(g.byText[text], c)
		} else {
			g.open = append(g.open, c)
		}
	}
}

// telling is the attribute with the most different texts; of several, the first
// by name.
func (g *group) telling() string {
	values := map[string]map[string]bool{}
	for _, c := range g.classes {
		for name, text := range c.print {
			if values[name] == nil {
				values[name] = map[string]bool{}
			}
			values[name][text] = true
		}
	}
	best := ""
	for name, texts := range values {
		if n := len(texts) - len(values[best]); n > 0 || n == 0 && name < best {
			best = name
		}
	}
	return best
}

// fitting are the steps that a call may be, the likeliest first: those with its
// values, else those with its id, which a provider may have refreshed since. A
// step that another call is for certain is out.
func (g *group) fitting(call intercept.Call) []*step {
	if steps := unsure(g.byValues(call)); len(steps) > 0 {
		return steps
	}
	if id, ok := idOf(call.Prior); ok { // never for a create, which has no prior
		if steps := unsure(g.byID[id]); len(steps) > 0 {
			return steps
		}
	}
	return nil
}

// unsure leaves out the steps whose calls are known for certain. A list without
// any is returned as it is.
func unsure(steps []*step) []*step {
	isSure := func(s *step) bool { return s.sure }
	if !slices.ContainsFunc(steps, isSure) {
		return steps
	}
	return slices.DeleteFunc(slices.Clone(steps), isSure)
}

// fit is a class with the values of a call.
type fit struct {
	class *class
	// open counts the attributes of the call that the plan left open.
	open  int
	guess guess
}

// guess is what becomes of what a class foresees beyond the plan.
type guess int

const (
	noGuess guess = iota
	rightGuess
	wrongGuess
)

// byValues are the steps with the values of a call. One that foresaw more of
// the call goes first. Ids of objects to come that were resolved tell apart only
// those steps that have one: the plan does not say whether an expression is more
// than the reference in it.
func (g *group) byValues(call intercept.Call) []*step {
	fits := g.fits(call)
	if slices.ContainsFunc(fits, func(f fit) bool { return f.guess == rightGuess }) {
		fits = slices.DeleteFunc(fits, func(f fit) bool { return f.guess == wrongGuess })
	}
	slices.SortStableFunc(fits, func(a, b fit) int {
		return cmp.Or(cmp.Compare(wrong(a), wrong(b)), cmp.Compare(a.open, b.open))
	})
	if len(fits) == 1 {
		return fits[0].class.steps
	}
	var steps []*step
	for _, f := range fits {
		steps = append(steps, f.class.steps...)
	}
	return steps
}

func wrong(f fit) int {
	if f.guess == wrongGuess {
		return 1
	}
	return 0
}

func (g *group) fits(call intercept.Call) []fit {
	texts := fingerprintOf(deciding(actionOf(call.Action), call.Prior, call.Planned))
	var found []fit
	for _, list := range [][]*class{g.byText[texts[g.attribute]], g.open} {
		for _, c := range list {
			if first := c.steps[0]; c.print.admits(texts) && first.fits(call) {
				found = append(found, fit{c, wildcards(first.planned, call.Planned), first.guessed(call)})
			}
		}
	}
	return found
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

// guessed says whether the references that a step could resolve are those of a
// call that fits.
func (s *step) guessed(call intercept.Call) guess {
	switch {
	case !s.resolved:
		return noGuess
	case fits(s.op.Planned, call.Planned):
		return rightGuess
	default:
		return wrongGuess
	}
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

// deciding is the state by which a call is known.
func deciding(action admission.Action, prior, planned cty.Value) cty.Value {
	if action == admission.Create {
		return planned
	}
	return prior
}

func (s *step) deciding() cty.Value { return deciding(s.op.Action, s.op.Prior, s.planned) }

// fingerprint is the known, non-empty texts among the attributes of a state, by
// name: a cheap test that tells apart most of the thousands of changes of a
// large plan.
type fingerprint map[string]string

// admits says whether a state with these texts may be the one.
func (f fingerprint) admits(texts fingerprint) bool {
	for name, text := range f {
		if texts[name] != text {
			return false
		}
	}
	return true
}

func fingerprintOf(state cty.Value) fingerprint {
	texts := fingerprint{}
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
