// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package conflict

import "strings"

// nextSteps is what to type next, the fullest version first. A report without
// a transaction has nothing to ask about; one that answers the question already
// does not advise to ask it again.
func nextSteps(r Report) []string {
	if id := unsettled(r); id != "" {
		command := "`tfweaver resolve " + id + " -reason TEXT -exists`"
		return []string{
			"Look at it in the cloud, then " + command + " (it is there) or `-gone` (it is not).",
			"Look, then " + command + " (it is there) or `-gone` (it is not).",
			"Look, then " + command + " or `-gone`.",
		}
	}
	if reads(r) {
		return []string{ReadBack, "The next run that needs it reads it."}
	}
	step, why := step(r), ""
	if !r.forecast() && (len(r.Actions) == 0 || advises(r, askWhy)) {
		why = "`" + askWhy + r.ID + "` for more."
	}
	switch {
	case r.Decision == "" || step == "" && why == "":
		return nil
	case step == "":
		return []string{why}
	case why == "":
		return []string{step + "."}
	default:
		return []string{step + "; " + why, step + "."}
	}
}

func step(r Report) string {
	switch r.Decision {
	case Wait:
		if r.forecast() || len(r.Actions) > 0 && !advises(r, "") {
			return ""
		}
		return "Ctrl-C to leave"
	case Replan:
		if c := foremost(r); c != nil && appeared(r, *c) {
			return "Import it, or give it another name" // a new plan would create it as well
		}
		return "Plan again with `tfweaver plan`"
	}
	if list := dependents(r); len(list) > 0 {
		return freeing(r, list)
	}
	switch c := foremost(r); {
	case c != nil && c.Failed != "":
		return "Mend that first, then run again"
	case c != nil && c.Capacity != nil && c.Capacity.Asked > c.Capacity.Limit:
		return "Raise the limit or ask for less, then run again"
	case c != nil && c.Capacity != nil && c.Capacity.Hopeless:
		return "Raise the limit or free some" + orAsk(r) + ", then run again"
	case c != nil && c.Capacity != nil:
		return "Run again later, raise the limit or free some" + orAsk(r)
	case c != nil && c.Exceeded:
		return "Run again" + ask(r)
	}
	return "Run again later" + ask(r) + ", or let it wait (-weaver-policy=queue)"
}

// advises says whether the report advises a command that begins so; with an
// empty one, whether it advises to leave.
func advises(r Report, command string) bool {
	for _, a := range r.Actions {
		if command == "" && a.Verb == "abort" || command != "" && strings.HasPrefix(a.Command, command) {
			return true
		}
	}
	return false
}

// unsettled is the first transaction that somebody has to settle, as the
// advice says.
func unsettled(r Report) string {
	for _, a := range r.Actions {
		if rest, ok := strings.CutPrefix(a.Command, "tfweaver resolve "); ok {
			id, _, _ := strings.Cut(rest, " ")
			return id
		}
	}
	return ""
}
