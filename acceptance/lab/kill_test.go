// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package lab

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestBelow(t *testing.T) {
	t.Parallel()
	all := []Process{process(1, 0, "init"), process(5, 2, "c"), process(2, 1, "a"), process(4, 2, "b"), process(6, 5, "d"), process(9, 1, "e")}
	want := []Process{process(5, 2, "c"), process(6, 5, "d"), process(4, 2, "b")}
	if diff := cmp.Diff(want, Below(all, 2)); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

func process(pid, parent int, program string) Process {
	return Process{PID: pid, Parent: parent, Program: program}
}
