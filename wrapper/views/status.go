// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package views

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
	"unicode/utf8"

	"github.com/tfweaver/tfweaver/internal/coordinator"
	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/core/conflict"
	"github.com/tfweaver/tfweaver/internal/version"
	"github.com/tfweaver/tfweaver/wrapper/identity"
)

// StatusText lists sessions and transactions, what is held together, what is
// uncertain and how it can be settled, and the capacity that is reserved.
func StatusText(s coordinator.Status) string {
	var b strings.Builder
	fmt.Fprintf(&b, "tfweaver %s; %s\n", version.Version, coordinatorLine(s))
	if len(s.Sessions) == 0 {
		b.WriteString("No session is open.\n")
	} else {
		b.WriteString("\n")
		table(&b, "SESSION\tACTOR\tPHASE\tOBJECTIVE\tSINCE\tLEASE", len(s.Sessions), func(i int) string {
			x := s.Sessions[i]
			return join(string(x.ID), actorOf(x), phase(x), objective(x), ago(s.Now, x.OpenedAt), ahead(s.Now, x.Expires))
		})
	}
	if len(s.Transactions) > 0 {
		b.WriteString("\n")
		table(&b, "TRANSACTION\tSESSION\tACTION\tADDRESS\tSTATUS\tSINCE", len(s.Transactions), func(i int) string {
			x := s.Transactions[i]
			return join(string(x.ID), string(x.Session), action(x.Tx), label(x.Tx), place(x), ago(s.Now, since(x.Tx)))
		})
	}
	claimsText(&b, s)
	bucketsText(&b, s)
	unsettledText(&b, s)
	if n := len(s.Declared); n > 0 {
		fmt.Fprintf(&b, "\n%s declared and not made yet.\n", count(n, "object"))
	}
	return b.String()
}

// actorOf is the actor of a session, and whether that is only a claim.
func actorOf(x coordinator.SessionStatus) string {
	if x.Claimed || x.Labels[identity.ClaimedLabel] == "true" {
		return x.Actor + " (claimed)"
	}
	return x.Actor
}

// phase is what a session is doing. One whose processes are dead does nothing,
// whatever it said last.
func phase(x coordinator.SessionStatus) string {
	if x.Dead {
		return "dead"
	}
	return x.Phase
}

func coordinatorLine(s coordinator.Status) string {
	if s.Store == "" && s.Epoch == 0 {
		return "no coordinator is running for this user on " + s.Host + "."
	}
	line := fmt.Sprintf("coordinator %s on %s, journal %s at %d", s.Version, s.Host, s.Store, s.Index)
	if s.Embedded {
		line += " (this machine only)"
	}
	return line + "."
}

// LocksText lists the held locks: of calls, and of the claims that keep others
// away until the last of their calls has ended.
func LocksText(s coordinator.Status) string {
	locks := AllLocks(s)
	if len(locks) == 0 {
		return "No lock is held.\n"
	}
	actors := map[admission.SessionID]string{}
	for _, x := range s.Sessions {
		actors[x.ID] = x.Actor
	}
	unknown := uncertainOf(s)
	var b strings.Builder
	table(&b, "NODE\tMODE\tTRANSACTION\tADDRESS\tACTOR\tSINCE", len(locks), func(i int) string {
		x := locks[i]
		actor := orElse(x.Actor, actors[x.Session])
		if actor == "" {
			actor = string(x.Session)
		}
		return join(short(string(x.Node)), x.Mode, string(x.Tx)+unknown[x.Tx], x.Address, actor, ago(s.Now, x.Since))
	})
	return b.String()
}

// AllLocks are the held locks, those of claims among them, by node; not nil.
func AllLocks(s coordinator.Status) []coordinator.LockStatus {
	locks := append(append([]coordinator.LockStatus{}, s.Locks...), claimLocks(s)...)
	slices.SortStableFunc(locks, func(a, b coordinator.LockStatus) int { return cmp.Compare(a.Node, b.Node) })
	return locks
}

// uncertainOf marks the transactions whose outcome nobody knows.
func uncertainOf(s coordinator.Status) map[admission.TxID]string {
	marks := map[admission.TxID]string{}
	for _, x := range s.Transactions {
		if x.Status == admission.Uncertain {
			marks[x.ID] = " (uncertain)"
		}
	}
	return marks
}

// claimLocks are the locks of claims. Those of a whole plan are named by it.
func claimLocks(s coordinator.Status) []coordinator.LockStatus {
	var locks []coordinator.LockStatus
	for _, c := range s.Claims {
		for _, w := range c.Locks {
			locks = append(locks, coordinator.LockStatus{
				Node: w.Node, Mode: w.Mode.String(), Tx: c.ID, Session: c.Session, Actor: c.Actor,
				Address: "claim: " + callsOf(c.Calls), Since: c.Since,
			})
		}
	}
	return locks
}

func table(b *strings.Builder, header string, n int, row func(i int) string) {
	w := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, header)
	for i := range n {
		fmt.Fprintln(w, row(i))
	}
	_ = w.Flush() // a strings.Builder does not fail
}

func join(cells ...string) string {
	for i, c := range cells {
		cells[i] = printable(c)
	}
	return strings.Join(cells, "\t")
}

// printable keeps what other people wrote from steering the terminal or the
// table.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || (r >= 0x80 && r < 0xa0) {
			return ' '
		}
		return r
	}, s)
}

func objective(x coordinator.SessionStatus) string {
	if len(x.Intents) == 0 {
		return ""
	}
	return x.Intents[0].Objective
}

// action is what a transaction does. A turn to work on a state does nothing but
// hold it.
func action(x admission.Tx) string {
	if x.Type == conflict.StateType {
		return "hold"
	}
	return string(x.Action)
}

// label is the address, or what else there is to know a transaction by.
func label(x admission.Tx) string {
	if x.Action == admission.Reserve && x.Address == "" {
		return count(len(x.Calls), "change") + " of a plan"
	}
	return orElse(x.Address, short(string(x.Self)))
}

// maxNode is the number of columns up to which an id is shown whole.
const maxNode = 40

// short is the end of an id that tells objects apart: its kind, its name, and
// the aspect. What is cut off, such as the subscription and the group, is the
// same in most rows; the JSON form has it.
func short(id string) string {
	if utf8.RuneCountInString(id) <= maxNode {
		return id
	}
	owner, aspect := id, ""
	if i := strings.Index(id, "/~"); i > 0 {
		owner, aspect = id[:i], id[i:]
	}
	parts := strings.Split(owner, "/")
	if len(parts) <= 2 {
		return id
	}
	return "…/" + strings.Join(parts[len(parts)-2:], "/") + aspect
}

// place is the state of a transaction, with its place in the queue, and with
// how it goes on where it holds no locks.
func place(x coordinator.TxStatus) string {
	switch {
	case x.Position > 0:
		return fmt.Sprintf("%s, place %d", x.Status, x.Position)
	case x.Unsettled != nil && x.Unsettled.Dead:
		return string(x.Status) + ", its run is dead"
	case x.Passed != nil:
		return fmt.Sprintf("%s, without locks (%s)", x.Status, x.Passed.Mode)
	default:
		return string(x.Status)
	}
}

func since(x admission.Tx) int64 {
	switch {
	case x.StartedAt != 0:
		return x.StartedAt
	case x.AdmittedAt != 0:
		return x.AdmittedAt
	default:
		return x.SubmittedAt
	}
}

func ago(now, at int64) string {
	if at == 0 || at > now {
		return "0s"
	}
	return seconds(time.Duration(now - at))
}

func ahead(now, until int64) string {
	if until <= now {
		return "over"
	}
	return seconds(time.Duration(until - now))
}

func orElse(s, other string) string {
	if s == "" {
		return other
	}
	return s
}
