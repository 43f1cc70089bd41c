// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package conflict

import (
	"fmt"
	"strings"

	"github.com/tfweaver/tfweaver/internal/core/admission"
)

// dependents are the reasons of a refused delete: what the object contains, and
// what refers to it, each once. The foremost reason comes first.
func dependents(r Report) []Conflict {
	if r.Decision != Reject {
		return nil
	}
	var list []Conflict
	seen := map[string]bool{}
	add := func(c Conflict) {
		id := dependent(c)
		if id != "" && !seen[id] {
			seen[id] = true
			list = append(list, c)
		}
	}
	if first := foremost(r); first != nil && dependent(*first) != "" {
		add(*first)
		for _, c := range r.Conflicts {
			add(c)
		}
	}
	return spread(list)
}

// spread moves the first of every owner to the front, and changes no order else.
func spread(list []Conflict) []Conflict {
	var firsts, rest []Conflict
	seen := map[string]bool{}
	for _, c := range list {
		owner := c.Fact.State
		if c.Holder != nil {
			owner = c.Holder.Actor + "/" + owner
		}
		if seen[owner] {
			rest = append(rest, c)
		} else {
			firsts = append(firsts, c)
		}
		seen[owner] = true
	}
	return append(firsts, rest...)
}

// dependent is the id of the object that keeps the resource from being
// deleted; empty where the reason is another one.
func dependent(c Conflict) string {
	if c.Fact == nil || c.Class != "dependency" {
		return ""
	}
	_, id, _ := strings.Cut(c.Fact.What, " ")
	return id
}

// ours says whether a reason is of the requester's own making: of its run, or
// an object of the state that it works on.
func ours(r Report, c Conflict) bool {
	if c.Holder != nil && c.Holder.Session == r.Requester.Session {
		return true
	}
	return c.Fact != nil && c.Fact.State != "" && c.Fact.State == r.Requester.State
}

// inUse tells a refusal for the sake of dependents, naming as many as possible
// in the first versions and the fewest in the last.
func inUse(r Report, list []Conflict) []string {
	head := subject(r) + verbs[Reject] + ": " + name(list[0].Resource, full)
	if fact, _, _ := strings.Cut(list[0].Fact.What, " "); fact == "contains" {
		head += " contains "
	} else {
		head += " is still used by "
	}
	head += describe(r, list[0], list, full)
	rest := list[1:]
	if len(rest) == 0 {
		return []string{head + "." + past(r), head + "."}
	}
	versions := []string{head + more(r, list, len(rest), full) + past(r)}
	for n := len(rest); n >= 0; n-- {
		versions = append(versions, head+more(r, list, n, terse)+past(r))
	}
	return append(versions, head+more(r, list, 0, terse))
}

// more counts the dependents beside the first, and names n of them.
func more(r Report, list []Conflict, n int, d detail) string {
	rest := list[1:]
	count := fmt.Sprintf(" and %d more", len(rest))
	if len(r.Conflicts) >= admission.MaxBlockers {
		// The coordinator keeps no more of them.
		count = fmt.Sprintf(" and at least %d more", len(rest))
	}
	var names []string
	for _, c := range rest[:n] {
		names = append(names, describe(r, c, list, d))
	}
	switch {
	case n == 0:
		return count + "."
	case n < len(rest):
		names = append(names, "…")
	}
	return count + ": " + strings.Join(names, ", ") + "."
}

// describe names a dependent, whose it is, what for, and how old that knowledge
// is. In short it is its name, its owner and that age;
// the kind only where another one of the list has the same name.
func describe(r Report, c Conflict, list []Conflict, d detail) string {
	what, seen := title(r, c, list, d), "seen "+duration(c.Fact.Age)+" ago"
	if d == terse {
		seen = duration(c.Fact.Age)
	}
	h := c.Holder
	switch {
	case h != nil && h.Session == r.Requester.Session:
		return what + " of this run (" + seen + ")"
	case ours(r, c):
		return what + " of this state (" + seen + ")"
	case h == nil:
		return what + " of an unknown owner (" + seen + ")"
	case h.Redacted:
		return what + " of another session (" + seen + ")"
	}
	if h.Objective != "" && d == full {
		seen = "intent '" + clip(h.Objective, 40) + "', " + seen
	}
	return what + " of " + actor(h) + " (" + seen + ")"
}

// title is what a dependent is called: the requester's own by its address, for
// that is where it can be changed.
func title(r Report, c Conflict, list []Conflict, d detail) string {
	o := c.Fact.Object
	switch {
	case o != nil && ours(r, c) && o.Address != "":
		return o.Address
	case o != nil && (d == full || sharesName(list, c)):
		return name(*o, d)
	default:
		return segment(dependent(c), d)
	}
}

// sharesName says whether another dependent has the same last segment.
func sharesName(list []Conflict, c Conflict) bool {
	for _, o := range list {
		if dependent(o) != dependent(c) && segment(dependent(o), full) == segment(dependent(c), full) {
			return true
		}
	}
	return false
}

// freeing is the next step of a refusal for the sake of dependents.
func freeing(r Report, list []Conflict) string {
	it := "them"
	if len(list) == 1 {
		it = "it"
	}
	for _, c := range list {
		if !ours(r, c) {
			return "Delete or detach " + it + " first" + orAsk(r)
		}
	}
	return "Delete or detach " + it + " first, or replace " + it + " too (-replace=" + replaceable(list) + ")"
}

// replaceable is the address for Terraform's option -replace.
func replaceable(list []Conflict) string {
	if o := list[0].Fact.Object; len(list) == 1 && o != nil && o.Address != "" {
		return o.Address
	}
	return "ADDRESS"
}
