// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package main

import (
	"encoding/json"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tfweaver/tfweaver/acceptance/killing"
)

func TestSettings(t *testing.T) {
	t.Parallel()
	got, err := parse([]string{"-rounds", "7", "-seed", "3"}, io.Discard)
	want := settings{rounds: 7, together: 2, only: -1, seed: 3, out: "build/kill"}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(settings{})); diff != "" || err != nil {
		t.Errorf("%v: -want +got\n%s", err, diff)
	}
	for _, args := range [][]string{{"-rounds", "0"}, {"-together", "0"}, {"-seed", "-1"}, {"more"}} {
		if _, err := parse(args, io.Discard); err == nil {
			t.Errorf("%v is accepted", args)
		}
	}
	if _, err := parse([]string{"-help"}, io.Discard); !errors.Is(err, flag.ErrHelp) {
		t.Errorf("-help: %v", err)
	}
}

func TestFiguresAreWritten(t *testing.T) {
	t.Parallel()
	s := settings{seed: 5, out: filepath.Join(t.TempDir(), "new")}
	if err := figures(s, killing.TallyOf([]killing.Result{{Killed: true, Kind: killing.Daemon}})); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(s.out, "seed-5.json"))
	if err != nil {
		t.Fatal(err)
	}
	var got killing.Tally
	if err := json.Unmarshal(text, &got); err != nil || got.Kills != 1 || got.Kinds[killing.Daemon].Rounds != 1 {
		t.Errorf("%+v, %v", got, err)
	}
}
