// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package mutants

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// usual are the faults that plain go test tries: the classics, each found
// within seconds.
var usual = []string{
	"barging", "free_on_expiry", "guards_at_submit_only", "queued_holds",
}

// TestMutantsAreKilled seeds the usual faults, or what MUTANTS says: a list of
// names, or all.
func TestMutantsAreKilled(t *testing.T) {
	t.Parallel()
	patches, _, err := Load(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range patches {
		if p.What == "" || p.Package == "" || p.Run == "" {
			t.Errorf("%s does not say what it is, and who finds it", p.Name)
		}
	}
	switch asked := os.Getenv("MUTANTS"); asked {
	case "all":
	case "":
		patches, err = Only(patches, usual...)
	default:
		patches, err = Only(patches, strings.Split(asked, ",")...)
	}
	if err != nil {
		t.Fatal(err)
	}
	r := Runner{Root: filepath.Join("..", "..", ".."), Parallel: 2, Progress: func(r Result) {
		t.Logf("%s %s in %.1fs by %s: %s", r.Patch.Name, r.Outcome, r.Took.Seconds(), r.Killer, r.Patch.What)
	}}
	results, err := r.Run(t.Context(), patches)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range results {
		if !r.Outcome.Dead() {
			t.Errorf("%s %s: %s %s", r.Patch.Name, r.Outcome, r.Patch.What, r.Note)
		}
	}
}
