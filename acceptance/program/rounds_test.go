// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package program

import (
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParse(t *testing.T) {
	t.Parallel()
	r := Rounds{Name: "kill", Wanted: 500}
	if err := r.Parse([]string{"-rounds", "7", "-seed", "3"}, io.Discard); err != nil {
		t.Fatal(err)
	}
	want := Rounds{Name: "kill", Wanted: 7, Together: 2, Only: -1, Seed: 3, Out: "build/kill"}
	if diff := cmp.Diff(want, r); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	r = Rounds{Name: "replace", Wanted: 100, Control: 20}
	if err := r.Parse([]string{"-control=0"}, io.Discard); err != nil || r.Control != 0 || r.Wanted != 100 {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"-rounds", "0"}, {"-together", "0"}, {"-seed", "-1"}, {"-control=-1"}, {"more"}, {"-nothing"}} {
		r := Rounds{Name: "replace", Wanted: 100, Control: 20}
		if err := r.Parse(args, io.Discard); err == nil {
			t.Errorf("%v is accepted", args)
		}
	}
	r := Rounds{Name: "kill", Wanted: 500}
	if err := r.Parse([]string{"-help"}, io.Discard); !errors.Is(err, flag.ErrHelp) {
		t.Errorf("-help: %v", err)
	}
	if err := r.Parse([]string{"-control=1"}, io.Discard); err == nil {
		t.Error("rounds without tfweaver are promised by a command that has none")
	}
}

func TestTallyIsWritten(t *testing.T) {
	t.Parallel()
	r := Rounds{Seed: 5, Out: filepath.Join(t.TempDir(), "new")}
	if err := r.WriteTally(map[string]int{"rounds": 2}); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(r.Out, "seed-5.json"))
	if err != nil || string(text) != "{\n  \"rounds\": 2\n}\n" {
		t.Errorf("%q, %v", text, err)
	}
}
