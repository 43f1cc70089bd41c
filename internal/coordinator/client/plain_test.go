// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package client

import "testing"

func TestPlain(t *testing.T) {
	t.Parallel()
	for message, want := range map[string]string{
		`connection error: desc = "transport: Error while dialing: dial unix /run/s: connect: connection refused"`: "dial unix /run/s: connect: connection refused",
		"error reading from server: EOF":                               "error reading from server: EOF",
		`connection error: desc = "error reading server preface: EOF"`: "error reading server preface: EOF",

		"the disk is full": "the disk is full",
	} {
		if got := plain(message); got != want {
			t.Errorf("%q: %q", message, got)
		}
	}
}
