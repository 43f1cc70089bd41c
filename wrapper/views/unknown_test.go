// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package views

import (
	"strings"
	"testing"
	"time"

	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/core/conflict"
)

// What was seen is told, and what it is worth.
func TestReadingsThatSettleNothingYet(t *testing.T) {
	t.Parallel()
	lost := Unknown{Tx: "t7", Action: "create", Address: "x_y.a", Whose: "alice"}
	for want, r := range map[string]Reading{
		"x_y.a: Reading it to find out how its create by alice (t7) ended": {Unknown: lost},
		"x_y.a: Read, and it is not there; how its create by alice (t7) ended is not settled by that yet: " +
			"what was sent may still show. It counts in 40s if it is still so": {Unknown: lost, Found: Absent, After: 40 * time.Second},
		"x_y.a: Read, and it is there; how its create by alice (t7) ended is not settled by that yet: what was sent may still show": {Unknown: lost, Found: Present},
		"x_y.a: Read, and an operation on it is in progress; how its create by alice (t7) ended is not settled by that yet: " +
			"it is read again until that has ended": {Unknown: lost, Found: Busy},
	} {
		if got := reading(r); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// A call that this run saw end is not told as one with an unknown outcome, and the
// command says what was seen.
func TestOutcomesThatTheCoordinatorMissed(t *testing.T) {
	t.Parallel()
	for want, u := range map[string]Uncertain{
		"x_y.a succeeded, and its object is there|resolve t7 -reason TEXT -exists": {Seen: true, Exists: true},
		"x_y.a succeeded, and its object is not there|-gone":                       {Seen: true},
		"x_y.a failed, and its object is there|-exists":                            {Seen: true, Failed: true, Exists: true},
		"x_y.a was sent, and its outcome is unknown|(or -gone)":                    {},
	} {
		u.Address, u.Tx = "x_y.a", "t7"
		line := uncertainLine(u)
		for _, part := range strings.Split(want, "|") {
			if !strings.Contains(line, part) {
				t.Errorf("%q lacks %q", line, part)
			}
		}
	}
}

// A change whose address nobody knows is named by its object.
func TestWhyNamesTheObjectWithoutAnAddress(t *testing.T) {
	t.Parallel()
	r := conflict.Report{ID: "t7", Action: "create", Object: &conflict.Resource{CloudID: "/a/very/long/account/that/nobody/wants/to/see/subnets/b"}}
	if text := WhyText(r, admission.Queued); !strings.HasPrefix(text, "t7: create of …/subnets/b is ") {
		t.Error(text)
	}
	r.Object = nil
	if text := WhyText(r, admission.Queued); !strings.HasPrefix(text, "t7: create of an object is ") {
		t.Error(text)
	}
}
