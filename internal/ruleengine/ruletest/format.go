// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package ruletest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/core/graph"
	"github.com/tfweaver/tfweaver/internal/core/lock"
	"github.com/tfweaver/tfweaver/internal/ruleengine"
)

// Format writes a lock plan as text: the object, the locks with their rules,
// the guards, the edges, the effects on capacity and on its limits, what rules of low confidence
// would have asked for, and the notes. short replaces what is long in ids.
func Format(l ruleengine.Lowered, short *strings.Replacer) string {
	var b strings.Builder
	r := l.Request
	fmt.Fprintf(&b, "%s %s\n", r.Action, r.Self)
	wants(&b, "", r.Locks, r.Guards)
	edges(&b, "edge", r.Edges)
	edges(&b, "edge+", r.AddEdges)
	edges(&b, "edge-", r.DropEdges)
	if r.KeepEdges {
		b.WriteString("edges stay\n")
	}
	for i, e := range r.Effects {
		line(&b, fmt.Sprintf("%+d", e.Amount), string(e.Bucket), l.Buckets[i].Rule)
	}
	for _, r := range l.Resized {
		line(&b, "resizes", string(r.Key), r.Rule)
	}
	wants(&b, "shadow", l.Shadow.Locks, l.Shadow.Guards)
	for _, e := range l.Shadow.Effects {
		line(&b, "shadow", fmt.Sprintf("%+d", e.Amount), string(e.Bucket))
	}
	for _, note := range l.Notes {
		line(&b, "note:", note)
	}
	return short.Replace(b.String())
}

func wants(b *strings.Builder, prefix string, locks lock.Plan, guards []admission.Guard) {
	for _, w := range locks {
		line(b, prefix, w.Mode.String(), string(w.Node), string(w.Relation), w.Rule, w.Class)
	}
	for _, g := range guards {
		value := ""
		if g.Value > 0 {
			value = fmt.Sprintf("= %d", g.Value)
		}
		line(b, prefix, "?", string(g.Kind), string(g.Node), value, g.Rule)
	}
}

func line(b *strings.Builder, words ...string) {
	words = slices.DeleteFunc(words, func(s string) bool { return s == "" })
	b.WriteString(strings.Join(words, " ") + "\n")
}

func edges(b *strings.Builder, what string, list []graph.Edge) {
	for _, e := range list {
		line(b, what, string(e.From), "-"+string(e.Kind)+"->", string(e.To))
	}
}
