// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package conflict

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/core/graph"
)

// standing tells how a transaction stands that nothing is in the way of.
func standing(r Report) []string {
	if OfState(r) && r.Status != "" {
		return []string{stateStanding(r, full), stateStanding(r, linkless), stateStanding(r, terse)}
	}
	switch admission.Status(r.Status) {
	case admission.Admitted, admission.Actioning, admission.Uncertain:
		return holding(r)
	case admission.Operational, admission.Failed, admission.Withdrawn:
		return []string{ended(r, full), ended(r, linkless), ended(r, terse)}
	default:
		return []string{subject(r) + " is not waiting."}
	}
}

// holding gives up the link to the run first, then the names of what is held,
// then the beginning of the object's id.
func holding(r Report) []string {
	var versions []string
	for _, object := range objectNames(r) {
		for _, held := range heldNames(r) {
			for d := full; d <= terse; d++ {
				versions = append(versions, doingItself(r, d)+"."+object+held)
			}
		}
	}
	return versions
}

func doingItself(r Report, d detail) string {
	act, by := participle(r.Action), who(self(r, r.Age), d)
	switch admission.Status(r.Status) {
	case admission.Admitted:
		return fmt.Sprintf("%s is about to be %s by %s", subject(r), act, by)
	case admission.Actioning:
		return fmt.Sprintf("%s is being %s by %s", subject(r), act, by)
	default:
		return fmt.Sprintf("%s was being %s, with an outcome nobody knows%s, by %s", subject(r), act, cause(r), by)
	}
}

// self is the requester in the place of a holder.
func self(r Report, age float64) *Holder {
	return &Holder{
		Session: r.Requester.Session, Objective: r.Requester.Intent,
		Actor: r.Requester.Actor, RunURL: r.Requester.RunURL, HeldFor: age,
	}
}

func cause(r Report) string {
	if r.Outcome == nil || r.Outcome.Cause == "" {
		return ""
	}
	return " (" + r.Outcome.Cause + ")"
}

// objectNames is the id of the object, whole and then without its beginning.
func objectNames(r Report) []string {
	if r.Object == nil || strings.Contains(r.Object.CloudID, "/~") {
		return []string{""} // the cloud has not told its id
	}
	id := r.Object.CloudID
	versions := []string{" Object: " + id + "."}
	for _, n := range []int{80, 50, 30, 1} {
		if utf8.RuneCountInString(id) > n {
			versions = append(versions, " Object: "+tail(id, n)+".")
		}
	}
	return append(versions, "")
}

// tail is as many last segments of an id as n columns hold, at least one.
func tail(id string, n int) string {
	parts := strings.Split(id, "/")
	text := parts[len(parts)-1]
	for _, p := range slices.Backward(parts[:len(parts)-1]) {
		if utf8.RuneCountInString(text)+utf8.RuneCountInString(p)+2 > n {
			break
		}
		text = p + "/" + text
	}
	return "…/" + text
}

// heldNames names what is held, then only counts it, then leaves it out. Intentions are left
// out: they keep others only from what contains the rest.
func heldNames(r Report) []string {
	own, shared := []string{}, []string{}
	for _, h := range r.Holds {
		if _, _, facet := graph.OwnerOfFacet(graph.NodeID(h.Resource.CloudID)); !facet && strings.Contains(h.Resource.CloudID, "/~") {
			continue // a name, or an object whose id is not known yet
		}
		switch what := name(h.Resource, full); {
		case h.Mode == "X" || h.Mode == "SIX":
			own = append(own, what)
		case h.Mode == "S":
			shared = append(shared, what)
		}
	}
	own, shared = distinct(own), distinct(shared)
	shared = slices.DeleteFunc(shared, func(s string) bool { return slices.Contains(own, s) })
	if len(own)+len(shared) == 0 {
		return []string{""}
	}
	text := ""
	if len(own) > 0 {
		text = " It holds " + strings.Join(own, ", ") + "."
	}
	brief := fmt.Sprintf(" It holds %d objects.", len(own)+len(shared))
	if len(own)+len(shared) == 1 {
		brief = " It holds 1 object."
	}
	if len(shared) == 0 {
		return []string{text, brief, ""}
	}
	return []string{text + " It shares " + strings.Join(shared, ", ") + ".", brief, ""}
}

func distinct(list []string) []string {
	slices.Sort(list)
	return slices.Compact(list)
}

// ended says how and when a transaction ended.
func ended(r Report, d detail) string {
	by, ago := who(self(r, 0), d), duration(r.Age)+" ago"
	switch {
	case r.Status == string(admission.Withdrawn):
		return fmt.Sprintf("The %s of %s by %s was withdrawn %s%s; nothing was sent.", r.Action, subject(r), by, ago, cause(r))
	case r.Outcome != nil && r.Outcome.By != "":
		return fmt.Sprintf("The %s of %s by %s was settled %s by %s: '%s'; %s.",
			r.Action, subject(r), by, ago, clip(r.Outcome.By, 30), clip(r.Outcome.Reason, 40), presence(r))
	case r.Status == string(admission.Failed):
		return fmt.Sprintf("The %s of %s by %s failed %s; %s.", r.Action, subject(r), by, ago, presence(r))
	default:
		return fmt.Sprintf("%s was %s %s by %s.", subject(r), participle(r.Action), ago, by)
	}
}

func presence(r Report) string {
	if r.Outcome != nil && r.Outcome.Exists != nil && *r.Outcome.Exists {
		return "the object is there"
	}
	return "the object is not there"
}
