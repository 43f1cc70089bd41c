// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package admission

import (
	"fmt"
	"strings"

	"github.com/tfweaver/tfweaver/internal/core/graph"
)

// dump prints who holds what, and who waits.
func (w *world) dump() string {
	var b strings.Builder
	for _, id := range w.state.locks.Nodes() {
		fmt.Fprintf(&b, "%-24s", id)
		for _, h := range w.state.locks.Holders(id) {
			fmt.Fprintf(&b, " %s:%s", h.Owner, h.Mode)
		}
		fmt.Fprintln(&b)
	}
	for _, c := range w.state.Claims() {
		fmt.Fprintf(&b, "claim %s of plan %s: %v, %d locks\n", c.ID, c.Plan, c.Calls, len(c.Locks))
	}
	for _, k := range w.state.escrow.Buckets() {
		l := w.state.escrow.Level(k)
		fmt.Fprintf(&b, "bucket %s: %d to %d in use, +%d -%d, limit %d\n", k, l.Low, l.High, l.Plus, l.Minus, l.Limit.Value)
	}
	for _, id := range w.state.queue.Items() {
		e := w.state.txs.Get(id)
		note := ""
		if w.state.dormant(e) {
			note = " (dormant)"
		}
		fmt.Fprintf(&b, "queue: %s of %s, ticket %d%s\n", id, e.Session, e.Ticket, note)
	}
	if b.Len() == 0 {
		return "idle"
	}
	return b.String()
}

// nodes prints what is known of all nodes of which something is known.
func (w *world) nodes() string {
	var b strings.Builder
	for n := range w.state.graph.Nodes() {
		refs := w.state.graph.Out(n.ID)
		if n.Lifecycle == graph.Unknown && n.DeclaredBy == "" && len(refs) == 0 && n.Collides == "" {
			continue
		}
		fmt.Fprintf(&b, "%s: %q version %d life %d", n.ID, n.Lifecycle, n.Version, n.Incarnation)
		for _, s := range []struct{ name, value string }{
			{"owner", n.Owner}, {"declared by", n.DeclaredBy}, {"bound to", string(n.BoundTo)}, {"collides with", string(n.Collides)},
		} {
			if s.value != "" {
				fmt.Fprintf(&b, ", %s %s", s.name, s.value)
			}
		}
		for _, e := range refs {
			fmt.Fprintf(&b, ", %s %s", e.Kind, e.To)
		}
		fmt.Fprintln(&b)
	}
	return b.String()
}

func describe(e Event) string {
	switch e := e.(type) {
	case SessionOpened:
		return fmt.Sprintf("session %s of %s: %s", e.Session.ID, e.Session.Actor, e.Session.Policy)
	case LeaseRenewed:
		return fmt.Sprintf("session %s renewed", e.Session)
	case SessionEnded:
		return fmt.Sprintf("session %s %s", e.Session, e.How)
	case NodesPlaced:
		return fmt.Sprintf("%d new nodes", len(e.Nodes))
	case Declared:
		return fmt.Sprintf("session %s declares %v", e.Session, e.Selves)
	case TxSubmitted:
		return fmt.Sprintf("%s has ticket %d", e.Tx.ID, e.Tx.Ticket)
	case TxQueued:
		return strings.TrimSuffix(fmt.Sprintf("%s waits\n%s", e.Tx, blockersOf(e.Blockers)), "\n")
	case TxAdmitted:
		return fmt.Sprintf("%s admitted, token %d", e.Tx, e.Token)
	case TxRejected:
		return strings.TrimSuffix(fmt.Sprintf("%s rejected\n%s", e.Tx, blockersOf(e.Blockers)), "\n")
	case TxStaled:
		return strings.TrimSuffix(fmt.Sprintf("%s stale\n%s", e.Tx, blockersOf(e.Blockers)), "\n")
	case TxStarted:
		return fmt.Sprintf("%s started", e.Tx)
	case TxEnded:
		out := fmt.Sprintf("%s %s", e.Tx, e.Status)
		if e.Cause != "" {
			out += " (" + e.Cause + ")"
		}
		if e.By != "" {
			out += fmt.Sprintf(" by %s: %s", e.By, e.Reason)
		}
		if e.Collision {
			out += ", identity collision with " + string(e.Bind.ID)
		}
		return out
	case TxUncertain:
		return fmt.Sprintf("%s uncertain (%s)", e.Tx, e.Cause)
	case Observed:
		var ids []string
		for _, o := range e.Objects {
			ids = append(ids, string(o.Decl.ID))
		}
		return "took over " + strings.Join(ids, " ")
	case SenderDied:
		return fmt.Sprintf("session %s can send nothing any more", e.Session)
	case TxPassed:
		return strings.TrimSuffix(fmt.Sprintf("%s passes (%s), token %d\n%s", e.Tx, e.Pass.Mode, e.Token, blockersOf(e.Blockers)), "\n")
	case ClaimAdmitted:
		return fmt.Sprintf("claim %s admitted: %v", e.Claim.ID, e.Claim.Calls)
	case ClaimEnded:
		if len(e.Broken) > 0 {
			return fmt.Sprintf("claim %s ended, half replaced: %v", e.Claim, e.Broken)
		}
		return fmt.Sprintf("claim %s ended", e.Claim)
	case Measured:
		return fmt.Sprintf("took over %d readings", len(e.Readings))
	default:
		return fmt.Sprintf("%T", e)
	}
}

func blockersOf(list []Blocker) string {
	var b strings.Builder
	for _, x := range list {
		fmt.Fprintf(&b, "  %s %s", x.Relation, x.Node)
		if x.Want != "" {
			fmt.Fprintf(&b, " %s against %s", x.Want, x.Held)
		}
		if x.Guard != "" {
			fmt.Fprintf(&b, " %s: %s", x.Guard, x.Fact)
			if x.FactNode != x.Node {
				fmt.Fprintf(&b, " %s", x.FactNode)
			}
		}
		if x.Holder != "" {
			fmt.Fprintf(&b, " by %s", x.Holder)
		}
		if x.HolderSession != "" {
			fmt.Fprintf(&b, " of %s", x.HolderSession)
		}
		if c := x.Capacity; c != nil {
			fmt.Fprintf(&b, " %s: limit %d, used %d, reserved %d of which theirs %d, asked %d", c.Bucket, c.Limit, c.Used, c.Reserved, c.Theirs, c.Asked)
			if c.Hopeless {
				b.WriteString(", hopeless")
			}
		}
		if x.Claim != "" {
			b.WriteString(" (claim)")
		}
		if x.Exceeded {
			b.WriteString(" (exceeds what was foreseen)")
		}
		if x.Dead {
			b.WriteString(" (dead: " + x.Fact + ")")
		}
		if x.Ahead {
			b.WriteString(" waiting")
		}
		if x.Replan {
			b.WriteString(", replan")
		}
		b.WriteString("\n")
	}
	return b.String()
}
