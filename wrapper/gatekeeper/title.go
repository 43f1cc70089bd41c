// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package gatekeeper

import (
	"slices"
	"strings"

	"github.com/tfweaver/tfweaver/internal/core/conflict"
	"github.com/tfweaver/tfweaver/wrapper/views"
)

// title says what kind of refusal a report is. It blames another session only
// where one is at work.
func title(report conflict.Report, own []string) string {
	switch {
	case report.Decision == conflict.Replan:
		return "Change refused: the plan is out of date"
	case len(own) > 0:
		return "Change refused: other objects of this state still need it"
	case inUse(report):
		return "Change refused: other objects still need it"
	case len(views.Foreign(report)) > 0:
		return "Change refused: it conflicts with another session"
	case slices.ContainsFunc(report.Conflicts, func(c conflict.Conflict) bool { return c.Holder != nil }):
		return "Change refused: another change of this run is in the way"
	default:
		return "Change refused: what it depends on is not as planned"
	}
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
