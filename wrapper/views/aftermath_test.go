// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package views

import (
	"bytes"
	"strings"
	"testing"
)

func TestImportCommandsCanBeTyped(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ address, id, want string }{
		"plain":        {"a.b", "/x/y", "terraform import a.b /x/y"},
		"an index":     {`a.b["c d"]`, "/x", `terraform import 'a.b["c d"]' /x`},
		"an odd id":    {"a.b", "it's here", `terraform import a.b 'it'\''s here'`},
		"no id":        {"a.b", "", ""},
		"no address":   {"", "/x", ""},
		"several rows": {"a.b", "x\nrm y", ""},
	} {
		if got := ImportCommand("terraform import", tt.address, tt.id); got != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}

func TestWhatIsLeftBehindIsTold(t *testing.T) {
	t.Parallel()
	p := ExistsAlready([]LeftBehind{
		{Address: "a.b", Actor: "alice", Killed: true, Import: "terraform import a.b /x"},
		{Address: "a.c"},
	})
	for _, want := range []string{
		"a.b exists already: it was created by alice's run (killed) and is in no state", "\n    terraform import a.b /x\n",
		"a.c exists already: it was created by an earlier run and is in no state", "Import it, or delete it",
	} {
		if !strings.Contains(p.Detail, want) {
			t.Errorf("the text lacks %q:\n%s", want, p.Detail)
		}
	}
	if !p.Warning || !strings.HasPrefix(p.Summary, "2 ") {
		t.Errorf("told as %+v", p)
	}
}

func TestUnansweredChangesAreTold(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	NewHuman(NewPrinter(&out), Style{}).Summary(Summary{
		Crashes: []Crash{{Provider: "p"}}, NotSent: []string{"a.idle"},
		Unanswered: []Unanswered{
			{Address: "a.made", Action: "create", Exists: true, Import: "terraform import a.made /x"},
			{Address: "a.failed", Action: "create", Exists: true, Answered: true},
			{Address: "a.missing", Action: "create"},
			{Address: "a.gone", Action: "delete"},
			{Address: "a.kept", Action: "delete", Exists: true},
			{Address: "a.changed", Action: "update", Exists: true},
		},
	})
	for _, want := range []string{
		"a.made was sent and was created, and is not in the state. Import it:\n    terraform import a.made /x\n",
		"a.failed failed, and its object is there and not in the state",
		"a.missing was sent, and was not created", "a.gone was sent and was deleted", "a.kept was sent, and was not deleted",
		"a.changed was sent, and Terraform got no answer", "a.idle was not sent", "what became of that is told below",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the summary lacks %q:\n%s", want, &out)
		}
	}
}
