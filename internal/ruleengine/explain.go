// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package ruleengine

import (
	"fmt"
	"strings"

	"github.com/tfweaver/tfweaver/internal/core/admission"
)

// The names of the default rules, as they stand after the # of a rule.
const (
	partSelf         = "self"
	partParent       = "parent"
	partUnreferenced = "unreferenced"
	partWidened      = "widened"
	partReference    = "reference"
	partConsumes     = "consumes"
	partBucket       = "bucket"
)

// reservedNames are the names that a pack's targets cannot have, because
// reports use them for default rules and guards.
func reservedNames() []string {
	return []string{partSelf, partParent, partUnreferenced, partWidened, string(admission.Present), string(admission.Version)}
}

// ruleName identifies a rule in lock plans and reports:
// pack/type.action#name, or pack/type.reference#name.
func ruleName(pack, resourceType, part, name string) string {
	return pack + "/" + resourceType + "." + part + "#" + name
}

// Doc is one sentence about a rule, as a report names it; empty for a rule that
// is not known.
func (e *Engine) Doc(rule string) string {
	if rule == unruledRule {
		return "No rule knows the type; the operation takes only its own object."
	}
	r, part, name := e.named(rule)
	if r == nil {
		return ""
	}
	if part == partReference {
		for _, ref := range r.references {
			if ref.name == name {
				return ref.meta.sentence(fmt.Sprintf("%s refers to a %s by %s, which must stay there meanwhile", r.name, ref.target, name))
			}
		}
		return ""
	}
	if part == partConsumes || part == partBucket {
		return r.docOfCapacity(part, name)
	}
	return r.docOf(admission.Action(part), name)
}

func (r *resource) docOfCapacity(part, name string) string {
	for _, c := range r.consumes {
		if part == partConsumes && c.name == name {
			return c.meta.sentence(fmt.Sprintf("A %s takes %s of %s as long as it is there", r.name, c.bucket, c.of))
		}
	}
	for _, b := range r.buckets {
		if part == partBucket && b.name == name {
			return b.meta.sentence(fmt.Sprintf("A %s has a bound on its %s", r.name, b.name))
		}
	}
	return ""
}

// named takes a rule's name apart.
func (e *Engine) named(rule string) (r *resource, part, name string) {
	owner, name, _ := strings.Cut(rule, "#")
	packName, rest, _ := strings.Cut(owner, "/")
	resourceType, part, _ := strings.Cut(rest, ".")
	for _, p := range e.packs {
		if p.name == packName {
			return p.resources[resourceType], part, name
		}
	}
	return nil, "", ""
}

func (r *resource) docOf(action admission.Action, name string) string {
	switch name {
	case partSelf:
		return fmt.Sprintf("%s of a %s takes the object itself.", titled(action), r.name)
	case partParent:
		return fmt.Sprintf("%s of a %s needs the %s that contains it.", titled(action), r.name, r.parent.kind)
	case partUnreferenced:
		return fmt.Sprintf("A %s can be deleted only while nothing of others refers to it or lives in it.", r.name)
	case partWidened:
		return fmt.Sprintf("What contains the %s is not known yet, so the nearest known container is taken.", r.name)
	}
	ev := r.events[action]
	if ev == nil {
		return ""
	}
	for _, t := range ev.targets {
		if t.name == name {
			return t.meta.sentence(fmt.Sprintf("%s of a %s takes %s", titled(action), r.name, withFacet(t)))
		}
	}
	for _, g := range ev.guards {
		if string(g.kind) == name {
			return g.meta.sentence(fmt.Sprintf("%s of a %s needs %s to be %s", titled(action), r.name, g.node, g.kind))
		}
	}
	return ""
}

// titled is an action with its article, as a sentence begins.
func titled(action admission.Action) string {
	if action == admission.Update {
		return "An update"
	}
	return "A " + string(action)
}

func withFacet(t *target) string {
	if t.facet == "" {
		return t.node.String()
	}
	return t.node.String() + "/~" + t.facet
}

// sentence is what the author wrote, else the fallback, as one sentence.
func (m meta) sentence(fallback string) string {
	s := m.why
	if s == "" {
		s = fallback
	}
	if m.source != "" {
		s = strings.TrimSuffix(s, ".") + " (" + m.source + ")"
	}
	if !strings.HasSuffix(s, ".") {
		s += "."
	}
	return s
}
