// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package conflict

import (
	"fmt"
	"strings"

	"github.com/tfweaver/tfweaver/internal/core/graph"
)

// States is the realm of the Terraform states that runs work on. It holds no
// object of a cloud: a run holds the node of its state from before its plan to
// its end, as the CLI holds the lock of the state.
const States graph.NodeID = "terraform-state"

// StateType is the type of a node in [States].
const StateType = "terraform_state"

// StateNode is the node of a state, given what identifies it.
func StateNode(origin string) graph.NodeID {
	// What begins with "/~" is a facet.
	return States + "/" + graph.NodeID(strings.NewReplacer("%", "%25", "~", "%7E").Replace(origin))
}

// IsState says whether a node is that of a Terraform state, or their realm.
func IsState(id graph.NodeID) bool {
	return id == States || strings.HasPrefix(string(id), string(States)+"/")
}

// OfState says whether a report is about a run's turn to work on a state.
func OfState(r Report) bool {
	if r.Object != nil {
		return IsState(graph.NodeID(r.Object.CloudID))
	}
	for _, c := range r.Conflicts {
		if IsState(graph.NodeID(c.Resource.CloudID)) {
			return true
		}
	}
	return false
}

// stateSentence tells who works on a state, or comes first.
func stateSentence(r Report, c *Conflict, d detail) string {
	h := c.Holder
	text := subject(r)
	switch {
	case h == nil:
		text += " is in use"
	case h.State == Waiting:
		text += " is awaited by " + who(h, d) + ", who comes first"
	default:
		text += " is being worked on by " + who(h, d) + doingWhat(h)
	}
	return text + "."
}

// doingWhat says what a holder is at, where it has said so.
func doingWhat(h *Holder) string {
	if h.Phase == "" || h.Redacted {
		return ""
	}
	return ", who is " + clip(h.Phase, 40)
}

// stateStanding tells of a turn that nothing is in the way of.
func stateStanding(r Report, d detail) string {
	if r.Status == "admitted" {
		return subject(r) + " is being worked on by " + who(self(r, r.Age), d) + "."
	}
	why := cause(r)
	if why == " (not sent)" { // it was worked on, which sends nothing by itself
		why = ""
	}
	return fmt.Sprintf("%s was given up by %s %s ago%s.", subject(r), who(self(r, 0), d), duration(r.Age), why)
}
