// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package view

import (
	"cmp"
	"strings"

	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/core/conflict"
	"github.com/tfweaver/tfweaver/internal/core/graph"
	"github.com/tfweaver/tfweaver/internal/core/mode"
)

// reason is what a decision itself tells of a reason: its class, and the node
// if that is visible. All hidden reasons that agree in it are one to the session.
type reason struct {
	// node and its local id are empty for a hidden one, and for none.
	node  graph.NodeID
	local LocalID
	class string
	guard bool
	// bucket and asked are the session's own.
	bucket          string
	exceeded, blank bool
	// fact is what a guard found of the visible node itself.
	fact string
	// counted is what is left of the bucket.
	counted conflict.Capacity
}

func (k reason) compare(o reason) int {
	return cmp.Or(
		cmp.Compare(k.local, o.local), cmp.Compare(k.class, o.class), compareBool(k.guard, o.guard),
		cmp.Compare(k.bucket, o.bucket), compareBool(k.exceeded, o.exceeded), cmp.Compare(k.fact, o.fact),
		cmp.Compare(k.counted.Asked, o.counted.Asked),
	)
}

// hides says whether nobody visible stands behind a reason.
func (x *redaction) hides(c *conflict.Conflict) bool {
	return c.Holder == nil || x.lens.party(x.s, admission.SessionID(c.Holder.Session)) == stranger
}

func (x *redaction) reason(c *conflict.Conflict) reason {
	k := reason{class: c.Class, exceeded: c.Exceeded, blank: c.Resource.CloudID == ""}
	if real := x.real(graph.NodeID(c.Resource.CloudID)); x.nodes[real].access != Hidden {
		k.node, k.local = real, x.l.of(real)
	}
	if c.Capacity != nil {
		k.bucket, k.counted = c.Capacity.Bucket, *remaining(c.Capacity, 0)
		return k
	}
	if k.guard = c.Fact != nil; k.guard {
		k.fact = x.found(c)
	}
	return k
}

// found is what a guard found, as far as the decision tells it, and what is
// visible of the node.
func (x *redaction) found(c *conflict.Conflict) string {
	word := fact(c.Fact.What)
	switch {
	case c.Fact.Object == nil && x.of(graph.NodeID(c.Resource.CloudID)) >= Readable && word != conflict.Declared:
		return word // of the node itself
	case c.Class != "dependency":
		return "version changed"
	case word == string(graph.Absent), word == conflict.Declared:
		return word // the one refuses, and the other lets wait
	default:
		return "references " + Alias // or contains: it does not tell which
	}
}

// hidden is what is told of reasons that are hidden.
func (x *redaction) hidden(k reason) conflict.Conflict {
	c := conflict.Conflict{Resource: conflict.Resource{CloudID: Alias, LocalID: Alias}, Class: k.class, Exceeded: k.exceeded}
	switch {
	case k.node != "":
		c.Resource = x.resource(conflict.Resource{CloudID: string(k.node)})
		c.Relation = x.relation(k.node)
		c.ModeWanted = x.wanted(k.node)
	case k.blank:
		c.Resource = conflict.Resource{}
	}
	switch {
	case k.bucket != "":
		c.Relation, c.ModeWanted = "capacity", ""
		c.Capacity = &k.counted
		return c // it may be all in use, by whomever
	case k.guard:
		c.Relation, c.ModeWanted = "guard", ""
		c.Fact = &conflict.Fact{What: k.fact, Age: x.r.Age, Source: "coordinator"}
	}
	if k.guard && k.class != "dependency" || strings.HasPrefix(k.fact, string(graph.Absent)) {
		return c // somebody outside may have done it
	}
	c.Holder = &conflict.Holder{Session: Alias, Actor: Alias, Redacted: true}
	if k.fact == conflict.Declared {
		c.Holder.State = conflict.Declared
	}
	return c
}

// relation is that of the transaction's object to a visible node.
func (x *redaction) relation(id graph.NodeID) string {
	own := x.real(x.tx.Self)
	switch {
	case id == own:
		return "same"
	case x.g.Contains(id, own):
		return "ancestor"
	case x.g.Contains(own, id):
		return "descendant"
	default:
		return "reference"
	}
}

// wanted is the strongest mode that the transaction asks for on a node or a
// facet of it.
func (x *redaction) wanted(id graph.NodeID) string {
	m := mode.NL
	for _, w := range x.tx.Locks {
		if x.real(w.Node) == id {
			m = mode.Sup(m, w.Mode)
		}
	}
	if m == mode.NL {
		return ""
	}
	return m.String()
}

// actions are the next steps that follow from what is left of the report.
func (x *redaction) actions(r conflict.Report) []conflict.Advice {
	var list []conflict.Advice
	switch r.Decision {
	case conflict.Wait:
		list = append(list,
			conflict.Advice{Verb: "wait", Text: "goes on by itself when its turn comes"},
			conflict.Advice{Verb: "abort", Text: "Ctrl-C gives up the place in the queue"})
	case conflict.Reject:
		list = append(list,
			conflict.Advice{Verb: "revise", Text: "run it again later, or let it wait with -weaver-policy=queue"},
			conflict.Advice{Verb: "abort", Text: "nothing was sent to the cloud for this object"})
	case conflict.Replan:
		list = append(list, conflict.Advice{Verb: "revise", Command: "tfweaver plan", Text: "the plan was made on a state that is gone"})
	}
	if r.Decision != "" && r.Status != "" {
		list = append(list, conflict.Advice{Verb: "verify", Command: "tfweaver why " + r.ID, Text: "shows all reasons"})
	}
	return append(list, x.settling()...)
}

// settling is the advice to settle the session's own transaction, as the report
// gives it: whose outcome is not known it may look for itself.
func (x *redaction) settling() []conflict.Advice {
	var list []conflict.Advice
	for _, a := range x.r.Actions {
		rest, ok := strings.CutPrefix(a.Command, "tfweaver resolve ")
		id, _, _ := strings.Cut(rest, " ")
		if tx, known := x.s.Tx(admission.TxID(id)); ok && known && x.lens.party(x.s, tx.Session) != stranger {
			list = append(list, a)
		}
	}
	return list
}
