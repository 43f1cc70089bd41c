// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package views

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tfweaver/tfweaver/internal/coordinator"
	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/core/conflict"
	"github.com/tfweaver/tfweaver/internal/core/escrow"
)

// ReportText tells what was delayed or refused, or would have been, and which of
// it ended with an error of the provider.
func ReportText(r coordinator.Report) string {
	if r.Transactions == 0 {
		return fmt.Sprintf("Nothing has been coordinated on %s yet.\n", r.Host)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s within %s on %s: %s.\n", count(r.Transactions, "change"),
		seconds(time.Duration(max(r.Now-r.Since, 0))), r.Host, tally(r))
	if len(r.Items) == 0 {
		return b.String()
	}
	b.WriteString("\n")
	table(&b, "TRANSACTION\tAGO\tWHAT\tCHANGE\tWAITED\tBY\tBECAUSE OF\tPROVIDER", len(r.Items), func(i int) string {
		x := r.Items[i]
		return join(string(x.Tx), ago(r.Now, x.SubmittedAt), fate(x), change(x), waitedFor(x), x.By.Actor, dueTo(x), provider(x))
	})
	if r.Omitted > 0 {
		fmt.Fprintf(&b, "\n%s left out.\n", count(r.Omitted, "older one"))
	}
	if notes := passes(r.Items); notes != "" {
		b.WriteString("\n" + notes)
	}
	return b.String()
}

// tally counts what there is to tell.
func tally(r coordinator.Report) string {
	if r.Delayed+r.Refused+r.WouldWait+r.WouldRefuse+r.Passed+r.Unknown+r.Left == 0 {
		return "nothing was in the way of any"
	}
	var parts []string
	for _, p := range []struct {
		n    int
		what string
	}{
		{r.Delayed, "delayed"},
		{r.Refused, "refused"},
		{r.WouldWait, "would have been delayed"},
		{r.WouldRefuse, "would have been refused"},
		{r.Passed, "let go on"},
		{r.Unknown, "with an unknown outcome"},
		{r.Left, "not answered well whose object is there"},
	} {
		if p.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", p.n, p.what))
		}
	}
	text := strings.Join(parts, ", ")
	if r.Errors > 0 {
		text += fmt.Sprintf("; %d of these ended with an error of the provider", r.Errors)
	}
	return text
}

// fate is what became of a change, and in which mode it went on regardless.
func fate(x coordinator.ReportItem) string {
	word := map[string]string{
		coordinator.Delayed: "delayed", coordinator.Refused: "refused",
		coordinator.WouldWait: "would wait", coordinator.WouldRefuse: "would be refused", coordinator.Passed: "let go on",
		coordinator.Unknown: "outcome unknown", coordinator.Left: "not answered, is there",
	}[x.What]
	word = cmp.Or(word, x.What)
	if x.Passed != nil {
		word += " (" + x.Passed.Mode + ")"
	}
	return word
}

func change(x coordinator.ReportItem) string {
	if x.Action == admission.Reserve {
		return cmp.Or(x.Address, "a whole plan")
	}
	if x.Type == conflict.StateType {
		return lower(x.Address)
	}
	return strings.TrimSpace(string(x.Action) + " " + cmp.Or(x.Address, x.Type))
}

// waitedFor is for how long a change was held up; empty where it was not.
func waitedFor(x coordinator.ReportItem) string {
	if x.What != coordinator.Delayed && x.Waited < int64(time.Second) {
		return ""
	}
	return span(time.Duration(x.Waited))
}

func provider(x coordinator.ReportItem) string {
	if x.ProviderError {
		return "error"
	}
	return ""
}

// dueTo names whom a change waited for and what they are after, each once, or
// the fact or the capacity where nobody stands behind it.
func dueTo(x coordinator.ReportItem) string {
	var names []string
	for _, r := range x.Reasons {
		if text := reason(r); text != "" && !slices.Contains(names, text) {
			names = append(names, text)
		}
	}
	return several(names)
}

func reason(r coordinator.Reported) string {
	what := cmp.Or(r.Address, short(string(r.Node)))
	switch {
	case r.Capacity != nil:
		return shortage(*r.Capacity)
	case r.By != nil && r.By.Objective != "":
		return fmt.Sprintf("%s (%q)", r.By.Actor, r.By.Objective)
	case r.By != nil:
		return cmp.Or(r.By.Actor, string(r.By.Session))
	case r.Dead:
		return "a change that belongs with it failed"
	case r.Exceeded:
		return "more than the plan foresaw"
	case r.Guard != "":
		return fmt.Sprintf("%s is %s", what, cmp.Or(r.Fact, "not "+string(r.Guard)))
	default:
		return what
	}
}

// shortage is a bucket that does not have what is asked for.
func shortage(s admission.Shortage) string {
	return fmt.Sprintf("%d of %s asked, limit %d, %d used, %d reserved", s.Asked, bucketName(s.Bucket), s.Limit, s.Used, s.Reserved)
}

// bucketName is a bucket in the words of people: what it counts, and of what.
func bucketName(k escrow.Key) string {
	node, name, ok := admission.NodeOfBucket(k)
	if !ok {
		return name
	}
	return name + " of " + short(string(node))
}

// passes lists what persons let go on, with their reasons. What a mode let go on
// is nobody's word.
func passes(items []coordinator.ReportItem) string {
	var b strings.Builder
	for _, x := range items {
		if x.Passed == nil || x.Passed.By == "" {
			continue
		}
		fmt.Fprintf(&b, "%s was passed by %s: %s\n", x.Tx, printable(x.Passed.By), printable(x.Passed.Reason))
	}
	return b.String()
}
