// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package views

import (
	"fmt"
	"strings"
)

// LeftBehind is an object that a change is to create and that is there already:
// an earlier run of this state has created it and did not live to note it there.
type LeftBehind struct {
	Address string
	// Actor is who created it; empty when not known. Killed is true when that run
	// ended without a word.
	Actor  string
	Killed bool
	// Import is the command that takes it into the state; empty when its id is
	// not known.
	Import string
}

// Unanswered is a change of this run of which the CLI learned nothing good: it
// had ended by then, or got an error in place of an answer. How the change itself
// ended is known.
type Unanswered struct {
	Address, Action, Tx string
	// Exists says whether the object is there now.
	Exists bool
	// Answered is true when the provider answered with an error: then the object
	// may have been there before.
	Answered bool
	// Import is the command that takes a created object into the state; empty
	// when its id is not known.
	Import string
}

// ImportCommand is what to type to take an object into the state; empty without
// an address or an id. It begins with command, such as "terraform import".
func ImportCommand(command, address, id string) string {
	if address == "" || id == "" || strings.ContainsAny(address+id, "\n\r") {
		return ""
	}
	return command + " " + quoted(address) + " " + quoted(id)
}

// ExistsAlready is the warning about objects that are left behind.
func ExistsAlready(list []LeftBehind) Problem {
	p := Problem{Warning: true, Summary: "An object to be created exists already"}
	if len(list) > 1 {
		p.Summary = fmt.Sprintf("%d objects to be created exist already", len(list))
	}
	var parts []string
	for _, x := range list {
		parts = append(parts, existsAlready(x))
	}
	p.Detail = strings.Join(parts, "\n\n")
	return p
}

func existsAlready(x LeftBehind) string {
	by := "an earlier run"
	if x.Actor != "" {
		by = printable(x.Actor) + "'s run"
	}
	if x.Killed {
		by += " (killed)"
	}
	return fmt.Sprintf("%s exists already: it was created by %s and is in no state that is known here. ", printable(x.Address), by) + importIt(x.Import)
}

// importIt puts the command on a line of its own, so that it can be copied.
func importIt(command string) string {
	if command == "" {
		return "Import it, or delete it, before the next apply."
	}
	return "Import it:\n    " + command
}

// unansweredLine tells how a change ended of which the state knows nothing.
func unansweredLine(u Unanswered) string {
	switch {
	case u.Action == "create" && u.Exists && u.Answered:
		return u.Address + " failed, and its object is there and not in the state. " + importIt(u.Import)
	case u.Action == "create" && u.Exists:
		return u.Address + " was sent and was created, and is not in the state. " + importIt(u.Import)
	case u.Action == "create":
		return u.Address + " was sent, and was not created."
	case u.Action == "delete" && !u.Exists:
		return u.Address + " was sent and was deleted; the next plan sees that."
	case u.Action == "delete":
		return u.Address + " was sent, and was not deleted."
	default:
		return u.Address + " was sent, and Terraform got no answer; the next plan sees what became of it."
	}
}

// aftermathLines tell what became of the changes that the CLI knows nothing good
// of.
func aftermathLines(s Summary) []string {
	var lines []string
	for _, u := range s.Unanswered {
		lines = append(lines, unansweredLine(u))
	}
	for _, address := range s.NotSent {
		lines = append(lines, address+" was not sent.")
	}
	for _, x := range s.LeftBehind {
		lines = append(lines, existsAlready(x))
	}
	return lines
}

// crashed says what became of what a provider that died was at.
func crashed(s Summary) string {
	if len(s.Unanswered)+len(s.NotSent)+len(s.Uncertain) > 0 {
		return "Where it was changing something, what became of that is told below."
	}
	return "Where it was changing something, the outcome is not known."
}
