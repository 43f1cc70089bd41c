// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package view

import (
	"fmt"
	"strings"

	"github.com/tfweaver/tfweaver/internal/core/admission"
)

// Subject picks sessions: "*" for all, "session:ID", "state:ORIGIN" for those
// that work on a Terraform state, or "label:KEY=VALUE". Labels are what a
// session says of itself: whether they may be believed is for the shell to know.
type Subject string

// Everyone is the subject of all sessions.
const Everyone Subject = "*"

// SessionSubject picks one session.
func SessionSubject(id admission.SessionID) Subject { return Subject("session:" + string(id)) }

// StateSubject picks all sessions that work on a Terraform state.
func StateSubject(origin string) Subject { return Subject("state:" + origin) }

// LabelSubject picks all sessions with a label.
func LabelSubject(key, value string) Subject { return Subject("label:" + key + "=" + value) }

// split is the kind of a subject and what follows it.
func (s Subject) split() (kind, rest string) {
	kind, rest, _ = strings.Cut(string(s), ":")
	return kind, rest
}

// Validate says what is wrong with a subject.
func (s Subject) Validate() error {
	kind, rest := s.split()
	switch {
	case s == Everyone:
		return nil
	case kind == "session" && rest != "", kind == "state" && rest != "":
		return nil
	case kind == "label":
		if key, _, ok := strings.Cut(rest, "="); ok && key != "" {
			return nil
		}
	}
	return fmt.Errorf("%w: subject %q is none of *, session:ID, state:ORIGIN, label:KEY=VALUE", ErrPolicy, s)
}

// Matches says whether the subject picks a session.
func (s Subject) Matches(x *admission.Session) bool {
	kind, rest := s.split()
	switch {
	case s == Everyone:
		return true
	case kind == "session":
		return rest == string(x.ID)
	case kind == "state":
		return rest == x.Origin
	case kind == "label":
		key, want, _ := strings.Cut(rest, "=")
		got, ok := x.Labels[key]
		return ok && got == want
	default:
		return false
	}
}

// matchesState says whether the subject picks every session of a state.
func (s Subject) matchesState(origin string) bool { return s == Everyone || s == StateSubject(origin) }

func anyMatches(list []Subject, x *admission.Session) bool {
	for _, s := range list {
		if s.Matches(x) {
			return true
		}
	}
	return false
}
