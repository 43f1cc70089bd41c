// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package main

import (
	"bytes"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tfweaver/tfweaver/acceptance/validation"
)

func env(values map[string]string) func(string) string {
	return func(name string) string { return values[name] }
}

func TestSettings(t *testing.T) {
	t.Parallel()
	got, err := parse([]string{"-seeds", "3-5"}, env(map[string]string{"SCALE": "0.2", "DEMO_SEED": "7", "DEMO_OUT": "x"}), io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	want := settings{scale: 0.2, seed: 7, out: "x", seeds: []uint64{3, 4, 5}}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(settings{})); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

func TestSettingsRefuseNonsense(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args []string
		env  map[string]string
		says string
	}{
		{says: "SCALE=0", env: map[string]string{"SCALE": "0"}},
		{says: "SCALE=fast", env: map[string]string{"SCALE": "fast"}},
		{says: "SCALE=NaN", env: map[string]string{"SCALE": "NaN"}},
		{says: "DEMO_SEED=-1", env: map[string]string{"DEMO_SEED": "-1"}},
		{says: "-seeds 5-1", args: []string{"-seeds", "5-1"}},
		{says: "-seeds 0-9999999", args: []string{"-seeds", "0-9999999"}},
		{says: "unexpected argument", args: []string{"more"}},
	} {
		if _, err := parse(c.args, env(c.env), io.Discard); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%v %v: error %v, want one that names %q", c.args, c.env, err, c.says)
		}
	}
	if _, err := parse([]string{"-help"}, env(nil), io.Discard); !errors.Is(err, flag.ErrHelp) {
		t.Errorf("-help: %v", err)
	}
}

const begins = `{"time":"2026-01-01T00:00:00Z","actor":"session-a","operation_id":"1","method":"PUT","object_id":"/subscriptions/s/resourceGroups/g","object_type":"Microsoft.Resources/subscriptions/resourceGroups","status":"Accepted"}
`

const ends = `{"time":"2026-01-01T00:00:02.2Z","actor":"session-a","operation_id":"1","method":"PUT","object_id":"/subscriptions/s/resourceGroups/g","object_type":"Microsoft.Resources/subscriptions/resourceGroups","status":"Succeeded"}
`

// TestRecomputeReadsTheLogs tampers with result.json and sees it put right, and
// the shape judged by the logs.
func TestRecomputeReadsTheLogs(t *testing.T) {
	t.Parallel()
	out := t.TempDir()
	for _, p := range validation.Policies() {
		file := validation.LogFile(out, p)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(begins+ends), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := writeResult(out, document{
		Result:     validation.Result{Scale: 0.5, Seed: 3, Policies: []validation.Figure{{Name: "serial", OK: 99}}},
		SecondPart: &SecondPart{Collision: collision{Rounds: 7, Attributed: 7}},
	}); err != nil {
		t.Fatal(err)
	}
	if err := recompute(settings{out: out}, new(bytes.Buffer)); err == nil || !strings.Contains(err.Error(), "found 1 of 1 succeeded") {
		t.Errorf("one operation was taken for six: %v", err)
	}
	got, err := readResult(out)
	if err != nil {
		t.Fatal(err)
	}
	want := validation.Result{Scale: 0.5, Seed: 3}
	for _, p := range validation.Policies() {
		want.Policies = append(want.Policies, validation.Figure{Name: p, MakespanS: 2.2, CriticalPathS: 2.2, OK: 1, Total: 1})
	}
	if diff := cmp.Diff(want, got.Result); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if got.SecondPart == nil || got.Collision.Attributed != 7 {
		t.Errorf("the second part is %+v", got.SecondPart)
	}
}

// TestResultHasTheAgreedForm: programs read result.json.
func TestResultHasTheAgreedForm(t *testing.T) {
	t.Parallel()
	out := t.TempDir()
	if err := writeResult(out, document{Result: validation.Result{Scale: 1}, SecondPart: &SecondPart{}}); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(resultFile(out))
	if err != nil {
		t.Fatal(err)
	}
	plainly := strings.Join(strings.Fields(string(text)), "")
	for _, want := range []string{`"scale":1,`, `"policies":null,`, `"destroy_vs_replace":{"rounds":0,"lost_intents":0,"attributed_first_report":0}`} {
		if !strings.Contains(plainly, want) {
			t.Errorf("result.json does not have %s:\n%s", want, text)
		}
	}
}
