// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package arguments

import "testing"

func TestMisspelt(t *testing.T) {
	t.Parallel()
	for command, want := range map[string]string{
		"staus": "status", "satus": "status", "statsu": "status", "lock": "locks", "docter": "doctor", "resovle": "resolve",
		"wyh": "why", "reports": "report",
		// Their own, and what is nearer to one of theirs.
		"state": "", "status": "", "": "", "test": "", "stat": "", "aply": "", "output": "", "plna": "",
		// What nobody knows is left alone.
		"unheard-of": "", "x": "", "who-is": "", "search": "",
	} {
		if got := (Invocation{Command: command}).Misspelt(); got != want {
			t.Errorf("%q is taken for %q, want %q", command, got, want)
		}
	}
}
