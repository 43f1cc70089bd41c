// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package views

import (
	"fmt"

	"github.com/tfweaver/tfweaver/internal/core/conflict"
)

// Passed prints one line.
func (h *Human) Passed(p Passed) {
	h.out.Print(h.style.paint(yellow, wrap(passed(p), h.style.columns())) + "\n")
}

// passed says that a change goes on, why, and what is in its way.
func passed(p Passed) string {
	line := p.Address + ": " + goesOn(p)
	if p.Report == nil || len(p.Report.Conflicts) == 0 {
		return line + "."
	}
	return line + ". In the way: " + InTheWay(*p.Report)
}

func goesOn(p Passed) string {
	switch p.Mode {
	case Observing:
		if p.Refused {
			return "Would have been refused, and goes on: coordination only observes"
		}
		return "Would have waited, and goes on: coordination only observes"
	case Overridden:
		return fmt.Sprintf("Goes on, overridden by %s (%q, about %s)", printable(p.By), printable(p.Reason), p.Of)
	case Offline:
		return "Goes on uncoordinated" + because(p.Reason)
	default:
		return "Goes on all the same" + because(p.Reason)
	}
}

func because(reason string) string {
	if reason == "" {
		return ""
	}
	return ": " + reason
}

// InTheWay says what is in the way of a change, without the change itself.
func InTheWay(r conflict.Report) string {
	r.Wait = nil // the place in the queue is given up
	if r.Decision == "" {
		r.Decision = conflict.Wait
	}
	sentence, _ := Told(r)
	if conflict.OfState(r) {
		return sentence
	}
	return afterColon(sentence)
}

// passedLines tell of the changes that went on: those of a person's word one
// by one, the others by their number.
func passedLines(list []Passed) []string {
	const refused = "refused"
	var lines []string
	counts := map[string]int{}
	for _, p := range list {
		switch {
		case p.Mode == Overridden:
			lines = append(lines, passed(p))
		case p.Mode == Observing && p.Refused:
			counts[refused]++
		default:
			counts[p.Mode]++
		}
	}
	for _, t := range []struct{ key, text string }{
		{Observing, "would have waited"},
		{refused, "would have been refused"},
		{WaitOnly, "went on although something was in the way"},
		{Offline, "went on UNCOORDINATED: the coordinator could not be reached"},
	} {
		if n := counts[t.key]; n > 0 {
			lines = append(lines, count(n, "change")+" "+t.text)
		}
	}
	return lines
}
