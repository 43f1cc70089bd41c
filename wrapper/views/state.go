// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package views

import "strings"

// statePrefix begins what a Terraform state is called in front of people.
const statePrefix = "The state of "

// isState says whether something that was waited for is a state, by its name.
func isState(name string) bool { return strings.HasPrefix(name, statePrefix) }

// stateLine tells of the wait for a state: it was the run that waited.
func stateLine(w Waited) string {
	line := "The run waited " + span(w.For) + forWhom(w.Holders) + ", to work on " + lower(w.Address)
	if w.Refused {
		line += ", and gave up"
	}
	return line
}

// lower is a name of ours inside of a sentence.
func lower(name string) string {
	if !isState(name) {
		return name
	}
	return strings.ToLower(name[:1]) + name[1:]
}
