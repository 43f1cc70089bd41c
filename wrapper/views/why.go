// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package views

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/core/conflict"
)

// WhyText is a report with all its reasons.
func WhyText(r conflict.Report, status admission.Status) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s %s\n", r.ID, what(r), stands(status))
	sentence, next := Told(r)
	b.WriteString(wrap(sentence, conflict.Width) + "\n")
	if next != "" {
		b.WriteString(wrap(next, conflict.Width) + "\n")
	}
	for i, reason := range reasons(r) {
		fmt.Fprintf(&b, "\n%d. %s", i+1, reason)
	}
	for _, a := range r.Actions {
		fmt.Fprintf(&b, "\n%s", a.Verb)
		if a.Command != "" {
			fmt.Fprintf(&b, ": %s", options(a.Command))
		}
		if a.Text != "" {
			fmt.Fprintf(&b, " (%s)", a.Text)
		}
	}
	if len(r.Actions) > 0 {
		b.WriteString("\n")
	}
	return b.String()
}

// stands says in words for people how a transaction stands.
func stands(status admission.Status) string {
	if status == admission.Operational {
		return "has succeeded"
	}
	return "is " + string(status)
}

// reasons are those of a report, each once: several locks may say the same.
func reasons(r conflict.Report) []string {
	var list []string
	for _, c := range r.Conflicts {
		var b strings.Builder
		b.WriteString(c.Resource.CloudID + "\n")
		writeFields(&b, conflictFields(c))
		if !slices.Contains(list, b.String()) {
			list = append(list, b.String())
		}
	}
	return list
}

// what names the transaction of a report.
func what(r conflict.Report) string {
	if r.Action == string(admission.Reserve) {
		return "reservation of a whole plan"
	}
	if conflict.OfState(r) {
		return "turn to work on " + lower(r.Address)
	}
	name := r.Address
	if name == "" && r.Object != nil { // of a run that knows no addresses
		name = short(r.Object.CloudID)
	}
	return orElse(r.Action, "change") + " of " + orElse(name, "an object")
}

func conflictFields(c conflict.Conflict) [][2]string {
	fields := [][2]string{{"address", c.Resource.Address}, {"relation", c.Relation}, {"class", c.Class}}
	if c.ModeWanted != "" {
		fields = append(fields, [2]string{"wanted", c.ModeWanted + " against held " + c.ModeHeld})
	}
	fields = append(fields, [2]string{"rule", c.RuleID}, [2]string{"", c.RuleDoc})
	if x := c.Capacity; x != nil {
		fields = append(fields, [2]string{x.Bucket, scarcity(*x)})
	}
	if c.Failed != "" {
		fields = append(fields, [2]string{"failed", c.Failed})
	}
	if c.Exceeded {
		fields = append(fields, [2]string{"unforeseen", "the call needs more than was held for its plan"})
	}
	if c.Fact != nil {
		fields = append(fields, [2]string{"fact", fmt.Sprintf("%s (known for %s, from %s)", c.Fact.What, seconds(time.Duration(c.Fact.Age*float64(time.Second))), c.Fact.Source)})
	}
	if h := c.Holder; h != nil {
		fields = append(fields,
			[2]string{"holder", holder(*h)}, [2]string{"identity", worth(*h)}, [2]string{"session", h.Session}, [2]string{"transaction", strings.TrimSpace(h.Tx + " " + h.Address)},
			[2]string{"state", standingOf(*h)}, [2]string{"since", h.Since}, [2]string{"run", h.RunURL}, [2]string{"lease until", h.LeaseExpires})
	}
	return fields
}

// worth says of an actor that nobody has verified it; empty for one that the
// system knows.
func worth(h conflict.Holder) string {
	if !h.ActorClaimed {
		return ""
	}
	return "claimed, not verified"
}

// scarcity is a count that is too small, in numbers.
func scarcity(x conflict.Capacity) string {
	text := fmt.Sprintf("%d asked, limit %d: %d used, %d reserved", x.Asked, x.Limit, x.Used, x.Reserved)
	if x.Theirs > 0 {
		text += fmt.Sprintf(", %d of them by the holder", x.Theirs)
	}
	if x.Hopeless {
		text += "; what is in flight cannot make room"
	}
	return text
}

// standingOf is the state of a holder, and what else there is to know of it.
func standingOf(h conflict.Holder) string {
	text := h.State
	if h.Claim {
		text += ", holds several calls together"
	}
	if h.Dead {
		text += ", its processes are dead"
	}
	if h.Result != "" {
		text += "; " + ended(h.Result)
	}
	return text
}

// ended is the result of a holder's change in words for people.
func ended(result string) string {
	if result == string(admission.Operational) {
		return "its change has succeeded"
	}
	return result
}

func writeFields(b *strings.Builder, fields [][2]string) {
	for _, f := range fields {
		if f[1] != "" {
			fmt.Fprintf(b, "   %-12s %s\n", f[0], printable(f[1]))
		}
	}
}
