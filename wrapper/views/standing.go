// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package views

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/tfweaver/tfweaver/internal/coordinator"
	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/core/escrow"
)

// claimsText lists what several calls of one plan hold together.
func claimsText(b *strings.Builder, s coordinator.Status) {
	if len(s.Claims) == 0 {
		return
	}
	b.WriteString("\nHeld together until the last of them has ended:\n")
	table(b, "CLAIM\tACTOR\tOBJECTIVE\tCHANGES\tSINCE", len(s.Claims), func(i int) string {
		c := s.Claims[i]
		return join(string(c.ID), c.Actor, c.Objective, callsOf(c.Calls), ago(s.Now, c.Since))
	})
}

// callsOf names the calls of a claim, the first two of them.
func callsOf(calls []admission.CallID) string {
	var names []string
	for _, c := range calls[:min(len(calls), 2)] {
		names = append(names, string(c))
	}
	text := strings.Join(names, ", ")
	if more := len(calls) - len(names); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// bucketsText lists the capacity that matters: what somebody reserves or frees,
// and what is used up. The JSON form has all.
func bucketsText(b *strings.Builder, s coordinator.Status) {
	shown := slices.DeleteFunc(slices.Clone(s.Buckets), func(x coordinator.BucketStatus) bool {
		usedUp := x.Available.Set && x.Available.Value == 0
		return x.Reserved == 0 && x.Freeing == 0 && !x.Overcommitted && !usedUp
	})
	if len(shown) == 0 {
		return
	}
	b.WriteString("\n")
	table(b, "CAPACITY\tOF\tLIMIT\tUSED\tRESERVED\tLEFT\tREAD\tBY", len(shown), func(i int) string {
		x := shown[i]
		return join(x.Name, short(string(x.Node)), bound(x.Limit), bound(x.Used), reserved(x), left(x), readAge(s.Now, x.ReadAt), sharers(x))
	})
}

// bound is a number, or that nobody knows it.
func bound(x escrow.Bound) string {
	if !x.Set {
		return "unknown"
	}
	return strconv.FormatInt(x.Value, 10)
}

func reserved(x coordinator.BucketStatus) string {
	text := strconv.FormatInt(x.Reserved, 10)
	if x.Freeing > 0 {
		text += fmt.Sprintf(", %d to be freed", x.Freeing)
	}
	return text
}

func left(x coordinator.BucketStatus) string {
	if x.Overcommitted {
		return "overcommitted"
	}
	return bound(x.Available)
}

func readAge(now, at int64) string {
	if at == 0 {
		return "never"
	}
	return ago(now, at) + " ago"
}

// sharers names who reserves or frees, each once.
func sharers(x coordinator.BucketStatus) string {
	var names []string
	for _, share := range x.Shares {
		name := orElse(share.Actor, string(share.Session))
		if share.Uncertain {
			name += " (outcome unknown)"
		}
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return several(names)
}

// unsettledText says of each call with an unknown outcome what settles it.
func unsettledText(b *strings.Builder, s coordinator.Status) {
	first := true
	for _, x := range s.Transactions {
		if x.Status != admission.Uncertain {
			continue
		}
		if first {
			b.WriteString("\nOutcome unknown, so the locks stay:\n")
			first = false
		}
		fmt.Fprintf(b, "  %s %s of %s, sent by %s %s ago%s\n", x.ID, x.Action, printable(label(x.Tx)),
			printable(orElse(x.Actor, string(x.Session))), ago(s.Now, x.StartedAt), ofTheDead(x.Unsettled))
		if text := settledBy(x.Action, x.Unsettled); text != "" {
			fmt.Fprintf(b, "    %s\n", text)
		}
		fmt.Fprintf(b, "    By hand: look at it in the cloud, then %s.\n", resolveCommand(string(x.ID)))
	}
}

func ofTheDead(u *coordinator.Unsettled) string {
	if u == nil || !u.Dead {
		return ""
	}
	return "; its run is dead"
}

// settledBy says which read settles a call by itself, and from when on: that a
// created object is there proves its call at any time, everything else only once
// nothing of the call can land any more.
func settledBy(action admission.Action, u *coordinator.Unsettled) string {
	const next = "The next run that needs it reads it, "
	switch {
	case u == nil || (u.After < 0 && action != admission.Create):
		return ""
	case u.After < 0:
		return next + "and goes on when it is there in a final state."
	case u.After == 0:
		return next + "and goes on when it is there in a final state, or gone."
	case action == admission.Create:
		return fmt.Sprintf("%sand goes on when it is there in a final state, or gone in %s or later.", next, seconds(u.After))
	default:
		return fmt.Sprintf("%sin %s or later, and goes on when it is there in a final state, or gone.", next, seconds(u.After))
	}
}
