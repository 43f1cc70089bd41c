// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package main

import (
	"io"
	"testing"
)

func TestSettings(t *testing.T) {
	t.Parallel()
	s, err := parse([]string{"-rounds", "7", "-seed", "9", "-control=0"}, io.Discard)
	if err != nil || s.rounds != 7 || s.seed != 9 || s.control != 0 || s.only != -1 || s.out != "build/interleave" {
		t.Errorf("%+v, %v", s, err)
	}
	for _, args := range [][]string{{"-rounds=0"}, {"-control=-1"}, {"-together=0"}, {"rounds"}, {"-nothing"}} {
		if _, err := parse(args, io.Discard); err == nil {
			t.Errorf("%q is taken", args)
		}
	}
}
