// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package views

import "fmt"

// Reading prints one line.
func (h *Human) Reading(r Reading) { h.out.Print(reading(r) + "\n") }

// Settled prints one line.
func (h *Human) Settled(s Settled) { h.out.Print(settled(s) + "\n") }

// Unreadable prints why, and the one thing that helps.
func (h *Human) Unreadable(u Unreadable) {
	h.out.Print(h.style.paint(yellow, wrap(unreadable(u), h.style.columns())) + "\n")
}

func reading(r Reading) string {
	if r.Found != "" {
		return fmt.Sprintf("%s: Read, and %s; how %s ended is not settled by that yet%s", r.object(), seenAs(r.Found), r.call(), settles(r))
	}
	return fmt.Sprintf("%s: Reading it to find out how %s ended", r.object(), r.call())
}

func seenAs(f Found) string {
	switch f {
	case Absent:
		return "it is not there"
	case Present:
		return "it is there"
	default:
		return "an operation on it is in progress"
	}
}

// settles says from when on the same finding would count: until then what was
// sent may still show.
func settles(r Reading) string {
	switch {
	case r.Found == Busy:
		return ": it is read again until that has ended"
	case r.After > 0:
		return fmt.Sprintf(": what was sent may still show. It counts in %s if it is still so", span(r.After))
	default:
		return ": what was sent may still show"
	}
}

func settled(s Settled) string {
	fate := "it is not there"
	if s.Exists {
		fate = "it is there"
	}
	return fmt.Sprintf("%s: Read, and %s; how %s ended is settled", s.object(), fate, s.call())
}

func unreadable(u Unreadable) string {
	return fmt.Sprintf("%s: How %s ended cannot be found out by reading: %s. Somebody has to look at it in the cloud, and then type %s; "+
		"anybody who can reach the coordinator may.", u.object(), u.call(), u.Reason, resolveCommand(u.Tx))
}

// object is what the call is about, as people know it.
func (u Unknown) object() string {
	return printable(orElse(u.Address, orElse(short(u.Object), "an object")))
}

// call names the call by what, whose and its transaction.
func (u Unknown) call() string {
	return fmt.Sprintf("its %s by %s (%s)", orElse(u.Action, "change"), printable(orElse(u.Whose, "another session")), u.Tx)
}
