// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package conflict

import (
	"slices"
	"strings"

	"github.com/tfweaver/tfweaver/internal/core/admission"
)

// askWhy begins the command that shows a report in full.
const askWhy = "tfweaver why "

// advise lists what a viewer can do next, the likeliest first. What only the
// requester can do is left out for the others; nobody who asks why is told to
// ask why.
func advise(r Report, viewer string) []Advice {
	var list []Advice
	if viewer == "" || viewer == r.Requester.Session {
		list = decided(r, viewer != "")
	}
	if r.Decision != "" && viewer != "" {
		list = append(list, Advice{Verb: "verify", Command: askWhy + r.ID, Text: "shows all reasons"})
	}
	if r.Status == string(admission.Uncertain) {
		return append(append(list, inspect(r)), settle(r.ID)...)
	}
	seen := map[string]bool{}
	for _, c := range r.Conflicts {
		if h := c.Holder; h != nil && h.State == Uncertain && !seen[h.Tx] {
			seen[h.Tx] = true
			list = append(list, settle(h.Tx)...)
		}
	}
	return list
}

// decided is what follows from the decision; here is for the run itself, which
// can be left.
func decided(r Report, here bool) []Advice {
	abort := Advice{Verb: "abort", Text: "Ctrl-C gives up the place in the queue"}
	switch r.Decision {
	case Wait:
		list := []Advice{{Verb: "wait", Text: "goes on by itself when its turn comes"}}
		if here {
			list = append(list, abort)
		}
		return list
	case Reject:
		return []Advice{
			{Verb: "revise", Text: revision(r)},
			{Verb: "abort", Text: "nothing was sent to the cloud for this object"},
		}
	case Replan:
		if c := foremost(r); c != nil && appeared(r, *c) {
			return []Advice{{Verb: "revise", Text: "import what exists already, or give it another name"}}
		}
		return []Advice{{Verb: "revise", Command: "tfweaver plan", Text: "the plan was made on a state that is gone"}}
	default:
		return nil
	}
}

// revision is the way out of a refusal.
func revision(r Report) string {
	if c := foremost(r); c != nil && c.Capacity != nil {
		if c.Capacity.Asked > c.Capacity.Limit {
			return "raise the limit of " + c.Capacity.Bucket + ", or ask for less"
		}
		return "raise the limit of " + c.Capacity.Bucket + ", free some, or run it again when less is in flight" + orAsk(r)
	}
	if len(dependents(r)) == 0 {
		return "run it again later" + ask(r) + ", or let it wait with -weaver-policy=queue"
	}
	return "delete or detach first what the conflicts name" + orAsk(r)
}

// ask names the foreign sides to agree with.
func ask(r Report) string {
	names := owners(r)
	if len(names) == 0 {
		return ""
	}
	return ", ask " + strings.Join(names, " or ")
}

func orAsk(r Report) string { return strings.Replace(ask(r), ", ask", ", or ask", 1) }

// owners are the actors that the foreign reasons name, each once.
func owners(r Report) []string {
	var names []string
	seen := map[string]bool{"": true}
	for _, c := range r.Conflicts {
		h := c.Holder
		if h == nil || h.Redacted || ours(r, c) || seen[h.Actor] {
			continue
		}
		seen[h.Actor] = true
		names = append(names, clip(h.Actor, 30))
	}
	return names
}

func inspect(r Report) Advice {
	text := "look in the cloud for what became of it"
	if r.Object != nil {
		text = "look in the cloud for " + r.Object.CloudID
	}
	return Advice{Verb: "verify", Text: text}
}

// ReadBack is the advice about a call with an unknown outcome whose object can be
// read.
const ReadBack = "The next run that needs it reads it, and goes on when it is there in a final state, or gone."

// LeaveToReading puts ReadBack in the place of the advice to settle those
// transactions by hand that will be read.
func LeaveToReading(r Report, read func(tx string) bool) Report {
	var list []Advice
	left := false
	for _, a := range r.Actions {
		rest, settles := strings.CutPrefix(a.Command, "tfweaver resolve ")
		if id, _, _ := strings.Cut(rest, " "); settles && read(id) {
			left = true
			continue
		}
		list = append(list, a)
	}
	if left {
		list = append(list, Advice{Verb: "wait", Text: ReadBack})
	}
	r.Actions = list
	return r
}

// reads says whether a report is only held up by what will be read.
func reads(r Report) bool {
	return slices.ContainsFunc(r.Actions, func(a Advice) bool { return a.Text == ReadBack })
}

// settle is how to record an outcome that only a person can find out: whichever
// of the two commands is true.
func settle(tx string) []Advice {
	command := "tfweaver resolve " + tx + " -reason TEXT "
	return []Advice{
		{Verb: "verify", Command: command + "-exists", Text: "when the object is there"},
		{Verb: "verify", Command: command + "-gone", Text: "when the object is not there"},
	}
}
