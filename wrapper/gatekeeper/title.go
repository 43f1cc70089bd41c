// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package gatekeeper

import (
	"slices"
	"strings"

	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/core/conflict"
	"github.com/tfweaver/tfweaver/wrapper/views"
)

// title says what kind of refusal a report is. It blames another session only
// where one is at work.
func title(report conflict.Report, own []string) string {
	subject := "Change refused: "
	if report.Action == string(admission.Reserve) {
		subject = "Plan refused: "
	}
	return subject + grounds(report, own)
}

func grounds(report conflict.Report, own []string) string {
	has := func(f func(conflict.Conflict) bool) bool { return slices.ContainsFunc(report.Conflicts, f) }
	switch {
	case has(func(c conflict.Conflict) bool { return c.Failed != "" }):
		return "a change that belongs with it has failed"
	case has(func(c conflict.Conflict) bool { return c.Exceeded }):
		return "it needs more than was held for the plan"
	case has(halfReplaced):
		return "another run left it half replaced"
	case has(func(c conflict.Conflict) bool { return appeared(report, c) }):
		return "it exists already"
	case report.Decision == conflict.Replan:
		return "the plan is out of date"
	case has(short):
		return "there is not enough left"
	case len(own) > 0:
		return "other objects of this state still need it"
	case inUse(report):
		return "other objects still need it"
	case len(views.Foreign(report)) > 0:
		return "it conflicts with another session"
	case has(func(c conflict.Conflict) bool { return c.Holder != nil }):
		return "another change of this run is in the way"
	default:
		return "what it depends on is not as planned"
	}
}

// halfReplaced says whether an object was deleted for a replace whose run ended
// before it made the object anew.
func halfReplaced(c conflict.Conflict) bool {
	return c.Holder != nil && c.Holder.Result == admission.HalfReplaced
}

// ownState names the objects that keep a change from being made, when all of
// them belong to the state that this run works on: then nobody else is to be
// blamed, even if another session made them. It is nil when anything else is
// in the way, or when that is not known.
func ownState(report conflict.Report) []string {
	if !inUse(report) {
		return nil
	}
	var names []string
	for _, c := range report.Conflicts {
		mine := c.Fact.State != "" && c.Fact.State == report.Requester.State ||
			c.Holder != nil && c.Holder.Session == report.Requester.Session
		if !mine {
			return nil
		}
		if name := needing(c); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// inUse says whether objects that still need what is to go are the only reason
// of a refusal.
func inUse(report conflict.Report) bool {
	if report.Decision != conflict.Reject || len(report.Conflicts) == 0 {
		return false
	}
	return !slices.ContainsFunc(report.Conflicts, func(c conflict.Conflict) bool {
		return c.Class != "dependency" || c.Fact == nil || !strings.Contains(c.Fact.What, " ")
	})
}

// needing is the address of the object that a guard found, or else its id.
func needing(c conflict.Conflict) string {
	if o := c.Fact.Object; o != nil && o.Address != "" {
		return o.Address
	}
	_, id, _ := strings.Cut(c.Fact.What, " ")
	return id
}
