// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package lab

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestBelow(t *testing.T) {
	t.Parallel()
	all := []Process{{1, 0, "init"}, {5, 2, "c"}, {2, 1, "a"}, {4, 2, "b"}, {6, 5, "d"}, {9, 1, "e"}}
	want := []Process{{5, 2, "c"}, {6, 5, "d"}, {4, 2, "b"}}
	if diff := cmp.Diff(want, Below(all, 2)); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}
