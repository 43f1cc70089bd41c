// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package views

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// maxNamed bounds how many names stand in one line of the summary.
const maxNamed = 4

func (h *Human) summary(s Summary) string {
	var b strings.Builder
	for _, c := range s.Crashes {
		detail := crashed(s)
		if c.Trace != "" {
			detail = c.Trace + "\n\n" + detail
		}
		b.WriteString(h.style.box(red, "Error", "The provider "+c.Provider+" crashed", detail))
	}
	if lines := summaryLines(s); len(lines) > 0 {
		b.WriteString("\nCoordination:\n  - " + strings.Join(lines, "\n  - ") + "\n")
	}
	if !s.Brief {
		b.WriteString(peersLine(s) + "\n")
	}
	return b.String()
}

func summaryLines(s Summary) []string {
	var lines []string
	var short []Waited
	gaveUp := map[string]time.Duration{}
	for _, w := range s.Waited {
		switch {
		case w.Refused && refusedAt(s.Refused, w.Address):
			gaveUp[w.Address] = w.For
		case !w.Refused && w.For < time.Second && !isState(w.Address):
			short = append(short, w)
		default:
			lines = append(lines, waitedLine(w))
		}
	}
	if len(short) > 0 {
		lines = append(lines, shortLine(short))
	}
	for _, r := range s.Refused {
		lines = append(lines, refusedLine(r, gaveUp[r.Address]))
	}
	for _, x := range s.HalfDone {
		lines = append(lines, halfDoneLine(x))
	}
	lines = append(lines, passedLines(s.Passed)...)
	for _, x := range s.Settled {
		lines = append(lines, settled(x))
	}
	lines = append(lines, aftermathLines(s)...)
	for _, u := range s.Uncertain {
		lines = append(lines, uncertainLine(u))
	}
	if s.Silence > 0 {
		lines = append(lines, "the coordinator did not answer for "+span(s.Silence)+", and what needed it waited")
	}
	return lines
}

func waitedLine(w Waited) string {
	if isState(w.Address) {
		return stateLine(w)
	}
	line := fmt.Sprintf("%s waited %s", w.Address, span(w.For)) + forWhom(w.Holders)
	if w.Refused {
		line += " and gave up"
	}
	return line
}

// shortLine tells in one line of all waits that hardly were any.
func shortLine(waits []Waited) string {
	var parties []Party
	for _, w := range waits {
		for _, p := range w.Holders {
			if !slices.Contains(parties, p) {
				parties = append(parties, p)
			}
		}
	}
	return count(len(waits), "change") + " waited less than a second" + forWhom(parties)
}

func forWhom(parties []Party) string {
	if len(parties) == 0 {
		return ""
	}
	var names []string
	for _, p := range parties {
		names = append(names, p.Name)
	}
	return " for " + several(names)
}

// several lists names in order, the first few of them.
func several(names []string) string {
	if n := len(names) - maxNamed; n > 0 {
		return strings.Join(names[:maxNamed], ", ") + fmt.Sprintf(" and %d more", n)
	}
	if n := len(names) - 1; n > 0 {
		return strings.Join(names[:n], ", ") + " and " + names[n]
	}
	return strings.Join(names, "")
}

func refusedAt(refusals []Refused, address string) bool {
	return slices.ContainsFunc(refusals, func(r Refused) bool { return r.Address == address })
}

func refusedLine(r Refused, waited time.Duration) string {
	line := r.Address + " was refused"
	if isState(r.Address) {
		line = r.Address + " was in use"
	}
	if waited > 0 {
		line += " after waiting " + span(waited)
	}
	if r.Report == nil {
		return line + ": " + r.Reason
	}
	if who := Holders(*r.Report); who != "" && len(r.OwnState) == 0 {
		line += " because of " + who
	}
	if len(r.OwnState) > 0 {
		line += " because of this state's own " + several(r.OwnState)
	}
	return line + fmt.Sprintf(" (tfweaver why %s)", r.Report.ID)
}

// uncertainLine tells what keeps the locks, and the one thing that frees them.
func uncertainLine(u Uncertain) string {
	if u.Seen {
		return toldNobody(u)
	}
	why := "its answer was lost"
	if u.GaveUp {
		why = "the provider stopped waiting for the cloud"
	}
	return fmt.Sprintf("%s was sent, and its outcome is unknown: %s. Others that need it wait until it is settled.\n"+
		"    Look at it in the cloud, then %s.", u.Address, why, resolveCommand(u.Tx))
}

// toldNobody tells of a call that ended before the eyes of this run, and the one
// way to let the coordinator know.
func toldNobody(u Uncertain) string {
	fate, option := "succeeded", "-gone"
	if u.Failed {
		fate = "failed"
	}
	there := "is not there"
	if u.Exists {
		there, option = "is there", "-exists"
	}
	return fmt.Sprintf("%s %s, and its object %s; the coordinator could not be told. It takes the outcome for unknown, and others that need it wait until it is settled.\n"+
		"    Type `tfweaver resolve %s -reason TEXT %s`.", u.Address, fate, there, u.Tx, option)
}

// halfDoneLine tells of a replace that stopped between its calls: others may
// come in between from now on.
func halfDoneLine(x HalfDone) string {
	return fmt.Sprintf("%s is half replaced: its %s succeeded and its %s did not. Others are told so, and are not held back any more. "+
		"Run the command again to finish it.", x.Address, strings.Join(x.Done, " and "), strings.Join(x.Left, " and "))
}

// peersLine says with whom the run was coordinated. It claims no more than is
// known: a session that was open may have worked on another cloud.
func peersLine(s Summary) string {
	where := "on " + s.Host
	if s.Embedded {
		where += " (this machine only)"
	}
	if s.Lost { // how many were open at the end nobody knows
		return "Coordinated " + where + " until the coordinator was lost."
	}
	others := s.Peers - len(s.InWay)
	line := fmt.Sprintf("Coordinated with %s %s", count(max(s.Peers, len(s.InWay)), "other session"), where)
	switch {
	case s.Peers == 0 && len(s.InWay) == 0:
		return "Coordinated " + where + "; no other session was open."
	case len(s.InWay) == 0:
		return line + "; none was in the way."
	case others > 0:
		return line + fmt.Sprintf("; %d %s in the way.", len(s.InWay), was(len(s.InWay)))
	default:
		return line + "."
	}
}

func was(n int) string {
	if n == 1 {
		return "was"
	}
	return "were"
}
