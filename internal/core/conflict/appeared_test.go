// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package conflict

import (
	"strings"
	"testing"
)

// TestWhatIsToBeCreatedAndIsThere was not replaced, and a new plan is no way out:
// it would create the object as well. What is to be changed needs one.
func TestWhatIsToBeCreatedAndIsThere(t *testing.T) {
	t.Parallel()
	for action, want := range map[string][2]string{
		"create": {"exists already", "Import it"},
		"update": {"was replaced since the plan was made", "`tfweaver plan`"},
	} {
		text := Text(Report{
			ID: "t9", Decision: Replan, Address: "simcloud_subnet.b", Action: action, Requester: Party{Session: "bob-1"},
			Conflicts: []Conflict{{
				Class: "lost_update", Resource: Resource{CloudID: "/net/b", Type: "simcloud_subnet"},
				Fact:   &Fact{What: "incarnation 2, planned on 1"},
				Holder: &Holder{Session: "alice-7", Actor: "alice", State: Ended},
			}},
		})
		for _, part := range want {
			if !strings.Contains(text, part) {
				t.Errorf("%s: the text lacks %q:\n%s", action, part, text)
			}
		}
		if action == "create" && (strings.Contains(text, "replaced") || strings.Contains(text, "tfweaver plan")) {
			t.Errorf("it leads in a circle:\n%s", text)
		}
	}
}
