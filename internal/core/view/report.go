// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package view

import (
	"cmp"
	"slices"
	"strings"

	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/core/conflict"
	"github.com/tfweaver/tfweaver/internal/core/graph"
)

// Report is what the session may be shown of a conflict report that was built on
// the state by [conflict.BuildAt], at the time of whoever asks: that of the last
// record tells when somebody did something. For an open lens that is the report
// itself. The report of a hidden
// session's transaction looks like that of one that is not known.
//
// For a confined session, all reasons that are hidden, or that nobody stands
// behind, are told as one for each class and visible node, and not at all where
// a visible reason of that class and node is told. What is left of such a reason
// follows from the session's own request.
func (l *Locals) Report(lens *Lens, s *admission.State, r conflict.Report) conflict.Report {
	tx, _ := s.Tx(admission.TxID(r.ID))
	return l.redact(lens, s, &tx, r)
}

// Prospect is Report for a forecast: a report that was built for a request
// without a transaction.
func (l *Locals) Prospect(lens *Lens, s *admission.State, q admission.Request, r conflict.Report) conflict.Report {
	return l.redact(lens, s, &admission.Tx{Request: q}, r)
}

func (l *Locals) redact(lens *Lens, s *admission.State, tx *admission.Tx, r conflict.Report) conflict.Report {
	if lens.open {
		return r
	}
	if lens.party(s, admission.SessionID(r.Requester.Session)) == stranger {
		return conflict.Report{Schema: r.Schema, ID: r.ID, Conflicts: []conflict.Conflict{}}
	}
	x := redaction{l: l, tx: tx, r: &r}
	if tx.Session == lens.session.ID {
		x.projection = lens.project(s, tx.Self)
	} else {
		x.projection = lens.project(s)
	}
	l.take(x.projection)
	return x.report()
}

// redaction makes a report that may be shown.
type redaction struct {
	*projection
	l  *Locals
	tx *admission.Tx
	r  *conflict.Report
}

func (x *redaction) report() conflict.Report {
	r := *x.r
	r.Object = x.optional(r.Object)
	r.Holds = x.holds()
	r.Outcome = x.outcome()
	r.Conflicts = x.conflicts()
	r.Wait, r.RetryAfter = nil, 0 // both count what others do
	r.Actions = x.actions(r)
	return r
}

// resource is a resource under its local id, or what stands for a hidden one.
// Its id names what contains it, and stands there only if all of that is visible.
func (x *redaction) resource(r conflict.Resource) conflict.Resource {
	if r.CloudID == "" {
		return r // a count that belongs to no node
	}
	id := graph.NodeID(r.CloudID)
	real := x.real(id)
	if x.nodes[real].access == Hidden {
		return conflict.Resource{CloudID: Alias, LocalID: Alias}
	}
	local := string(x.l.of(real))
	out := conflict.Resource{CloudID: local, LocalID: local}
	if x.plain(real) {
		out.CloudID = string(real)
	}
	if _, facet, ok := graph.OwnerOfFacet(id); ok {
		out.CloudID += "/~" + facet
	}
	if n := x.g.Peek(real); n != nil && !x.nodes[real].bare {
		out.Type = n.Type
		if x.nodes[real].access >= Readable {
			out.Address = address(x.lens.owner(n.Owner), n.Address)
		}
	}
	return out
}

func (x *redaction) optional(r *conflict.Resource) *conflict.Resource {
	if r == nil {
		return nil
	}
	out := x.resource(*r)
	return &out
}

// holds are the locks of the transaction on what is visible: the intentions
// above it would tell how deep it stands.
func (x *redaction) holds() []conflict.Hold {
	var list []conflict.Hold
	for _, h := range x.r.Holds {
		if h.Resource = x.resource(h.Resource); h.Resource.LocalID != Alias {
			list = append(list, h)
		}
	}
	slices.SortFunc(list, func(a, b conflict.Hold) int {
		return cmp.Or(cmp.Compare(a.Resource.LocalID, b.Resource.LocalID), cmp.Compare(a.Resource.CloudID, b.Resource.CloudID))
	})
	return list
}

// outcome keeps the name and the words of whoever settled the transaction only
// where it was the session itself.
func (x *redaction) outcome() *conflict.Outcome {
	if x.r.Outcome == nil {
		return nil
	}
	o := *x.r.Outcome
	if o.By != "" && x.lens.party(x.s, admission.SessionID(o.By)) == stranger {
		o.By, o.Reason = Alias, ""
	}
	return &o
}

// conflicts are the visible reasons, and what is left of the others.
func (x *redaction) conflicts() []conflict.Conflict {
	list := []conflict.Conflict{}
	told := map[reason]bool{}
	var hidden []reason
	for i := range x.r.Conflicts {
		c := &x.r.Conflicts[i]
		k := x.reason(c)
		if x.hides(c) {
			hidden = append(hidden, k)
			continue
		}
		told[k] = true
		list = append(list, x.visible(*c))
	}
	slices.SortFunc(list, compareConflicts)
	list = slices.CompactFunc(list, func(a, b conflict.Conflict) bool { return compareConflicts(a, b) == 0 })
	if x.lens.party(x.s, admission.SessionID(x.r.Requester.Session)) != self {
		return list // what is in the way of others is told as far as it is visible
	}
	slices.SortFunc(hidden, reason.compare)
	for _, k := range hidden {
		if !told[k] {
			told[k] = true
			list = append(list, x.hidden(k))
		}
	}
	return list
}

func compareConflicts(a, b conflict.Conflict) int {
	side := func(c conflict.Conflict) (session, tx string) {
		if c.Holder == nil {
			return "", ""
		}
		return c.Holder.Session, c.Holder.Tx
	}
	aSession, aTx := side(a)
	bSession, bTx := side(b)
	return cmp.Or(
		cmp.Compare(a.Resource.LocalID, b.Resource.LocalID), cmp.Compare(a.Resource.CloudID, b.Resource.CloudID),
		cmp.Compare(a.Class, b.Class), cmp.Compare(a.Relation, b.Relation), cmp.Compare(aSession, bSession), cmp.Compare(aTx, bTx),
		cmp.Compare(what(&a), what(&b)), cmp.Compare(a.ModeWanted, b.ModeWanted), cmp.Compare(a.ModeHeld, b.ModeHeld),
	)
}

func what(c *conflict.Conflict) string {
	switch {
	case c.Fact != nil:
		return c.Fact.What
	case c.Capacity != nil:
		return c.Capacity.Bucket
	default:
		return c.Failed
	}
}

// visible is a reason that a visible session stands behind.
func (x *redaction) visible(c conflict.Conflict) conflict.Conflict {
	c.Resource = x.resource(c.Resource)
	h := *c.Holder
	if x.lens.party(x.s, admission.SessionID(h.Session)) != self && !x.atVisible(&c) {
		h.Address = ""
	}
	if x.r.Status == "" {
		h.HeldFor = 0 // a forecast counts up to the last record, whoever made it
	}
	c.Holder = &h
	if c.Fact != nil {
		f := *c.Fact
		f.What, f.Age, f.Object = fact(f.What), x.r.Age, x.optional(f.Object)
		if f.Object != nil {
			f.What += " " + f.Object.CloudID
		}
		if f.State = x.lens.owner(f.State); f.State == ownerSelf {
			f.State = x.lens.session.Origin
		}
		c.Fact = &f
	}
	if c.Capacity != nil {
		c.Fact = nil // who read it, and when
		c.Capacity = remaining(c.Capacity, c.Capacity.Theirs)
	}
	return c
}

// atVisible says whether what the holder is about is visible.
func (x *redaction) atVisible(c *conflict.Conflict) bool {
	if tx, ok := x.s.Tx(admission.TxID(c.Holder.Tx)); ok && c.Holder.Tx != "" {
		return x.sees(tx.Self)
	}
	if c.Fact != nil && c.Fact.Object != nil {
		return x.sees(graph.NodeID(c.Fact.Object.CloudID))
	}
	return x.sees(graph.NodeID(c.Resource.CloudID))
}

// fact is the word for what a guard found, without what it counts.
func fact(what string) string {
	word, _, _ := strings.Cut(what, " ")
	switch word {
	case "version", "incarnation":
		return word + " changed"
	default:
		return word
	}
}

// remaining tells of a count what is left of it, and what the one who is named
// has reserved: whatever else is in use, or may come to be, is one number.
func remaining(c *conflict.Capacity, theirs int64) *conflict.Capacity {
	taken := min(max(c.Used+c.Reserved, 0), c.Limit)
	theirs = min(theirs, c.Reserved, taken)
	return &conflict.Capacity{
		Bucket: c.Bucket, Limit: c.Limit, Used: taken - theirs, Reserved: theirs, Theirs: theirs, Asked: c.Asked,
	}
}
