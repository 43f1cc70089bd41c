// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

//go:build !windows

package command

import (
	"archive/zip"
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tfweaver/tfweaver/internal/coordinator"
	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/wrapper/arguments"
	"github.com/tfweaver/tfweaver/wrapper/statelock"
	"github.com/tfweaver/tfweaver/wrapper/terraform"
)

// drip writes a text byte by byte.
func drip(t *testing.T, w io.Writer, text string) {
	t.Helper()
	for i := range len(text) {
		if _, err := w.Write([]byte{text[i]}); err != nil {
			t.Fatal(err)
		}
	}
}

const (
	stalePlain  = "\nError: Saved plan is stale\n\nThe given plan file can no longer be applied because the state was changed by\nanother operation after the plan was created.\n"
	staleFramed = "\x1b[31m╷\x1b[0m\x1b[0m\n\x1b[31m│\x1b[0m \x1b[0m\x1b[1m\x1b[31mError: \x1b[0m\x1b[0m\x1b[1mSaved plan is stale\x1b[0m\n\x1b[31m│\x1b[0m \x1b[0m\n\x1b[31m╵\x1b[0m\x1b[0m\n"
	lockFramed  = "\x1b[31m╷\x1b[0m\x1b[0m\n\x1b[31m│\x1b[0m \x1b[0m\x1b[1m\x1b[31mError: \x1b[0m\x1b[0m\x1b[1mError acquiring the state lock\x1b[0m\n\x1b[31m╵\x1b[0m\x1b[0m\n"
)

func TestSieve(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		text, want    string
		quiet         bool
		stale, locked bool
	}{
		"stale":                {text: "a\n" + stalePlain, want: "a\n" + stalePlain, stale: true},
		"stale, quietly":       {text: "a\n" + stalePlain, want: "a\n", quiet: true, stale: true},
		"framed, quietly":      {text: staleFramed, quiet: true, stale: true},
		"framed":               {text: staleFramed, want: staleFramed, stale: true},
		"locked":               {text: lockFramed, want: lockFramed, quiet: true, locked: true},
		"something else":       {text: "\n\nError: no\n\n", want: "\n\nError: no\n\n", quiet: true},
		"said by somebody":     {text: "x: Error: Saved plan is stale\nno end", want: "x: Error: Saved plan is stale\nno end", quiet: true},
		"a warning beside it":  {text: "Warning: w\n\n" + stalePlain, want: "Warning: w\n", quiet: true, stale: true},
		"nothing":              {},
		"blank lines, no more": {text: "\n\n", want: "\n\n", quiet: true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			s := &sieve{out: &out, quiet: tt.quiet}
			drip(t, s, tt.text)
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, out.String()); diff != "" {
				t.Errorf("handed on (-want +got):\n%s", diff)
			}
			if stale, locked := s.said(); stale != tt.stale || locked != tt.locked {
				t.Errorf("stale %v, locked %v", stale, locked)
			}
		})
	}
}

func TestSieveOfJSON(t *testing.T) {
	t.Parallel()
	stale := []byte(`{"diagnostic":{"severity":"error","summary":"Saved plan is stale"},"type":"diagnostic"}`)
	loud, quiet := &sieve{}, &sieve{quiet: true}
	if loud.drop(stale) || !quiet.drop(stale) {
		t.Error("the line of a stale plan is left out where it is an error, or is not where it is none")
	}
	if s, _ := loud.said(); !s {
		t.Error("the line was not seen")
	}
	if loud.drop([]byte(`{"diagnostic":{"summary":"Error acquiring the state lock"},"type":"diagnostic"}`)) {
		t.Error("the line of the lock is left out")
	}
	if _, locked := loud.said(); !locked {
		t.Error("the lock was not seen")
	}
}

func TestEnding(t *testing.T) {
	t.Parallel()
	const off, green = "\x1b[0m", "\x1b[0m\x1b[1m\x1b[32m"
	for name, tt := range map[string]struct{ text, want string }{
		"coloured": {
			"a: Destroying...\n" + green + "\nApply complete! Resources: 0 added, 0 changed, 2 destroyed.\n" + off,
			"a: Destroying...\n" + green + "\nDestroy complete! Resources: 2 destroyed.\n" + off,
		},
		"plain, with outputs": {
			"\nApply complete! Resources: 0 added, 0 changed, 12 destroyed.\n\nOutputs:\n\nx = \"y\"\n",
			"\nDestroy complete! Resources: 12 destroyed.\n",
		},
		"coloured, with outputs": {
			green + "\nApply complete! Resources: 0 added, 0 changed, 0 destroyed.\n" + off + green + "\nOutputs:\n\n" + off + "x = \"y\"\n",
			green + "\nDestroy complete! Resources: 0 destroyed.\n" + off,
		},
		"said by a provisioner": {
			"a (local-exec): Apply complete! Resources: 0 added, 0 changed, 2 destroyed.\nno end",
			"a (local-exec): Apply complete! Resources: 0 added, 0 changed, 2 destroyed.\nno end",
		},
		"something else": {"Apply complete! Resources: 1 added\nApply", "Apply complete! Resources: 1 added\nApply"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, write := range []func(io.Writer){
				func(w io.Writer) { drip(t, w, tt.text) },
				func(w io.Writer) { _, _ = io.WriteString(w, tt.text) },
			} {
				var out bytes.Buffer
				e := &ending{out: &out}
				write(e)
				if err := e.Close(); err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(tt.want, out.String()); diff != "" {
					t.Errorf("-want +got:\n%s", diff)
				}
			}
		})
	}
}

func TestEndingKeepsNothingBack(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	e := &ending{out: &out}
	drip(t, e, "var.x\n  Enter a value: ")
	if got := out.String(); got != "var.x\n  Enter a value: " {
		t.Errorf("a question is shown as %q", got)
	}
}

func TestJSONEnding(t *testing.T) {
	t.Parallel()
	const summary = `{"@message":"Apply complete! Resources: 0 added, 0 changed, 2 destroyed.","changes":{"add":0,"change":0,"import":0,"remove":2,"operation":"apply"},"type":"change_summary"}` + "\n"
	const want = `{"@message":"Destroy complete! Resources: 2 destroyed.","changes":{"add":0,"change":0,"import":0,"remove":2,"operation":"destroy"},"type":"change_summary"}` + "\n"
	var out bytes.Buffer
	e := &each{out: &out, line: jsonEnding}
	drip(t, e, `{"type":"apply_start"}`+"\n"+summary+`{"outputs":{},"type":"outputs"}`+"\n")
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(`{"type":"apply_start"}`+"\n"+want, out.String()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestDifference(t *testing.T) {
	t.Parallel()
	before := map[string]string{"a.a": "create", "b.b": "update", "c.c": "delete"}
	now := map[string]string{"a.a": "create", "b.b": "replace", "d.d": "create"}
	want := "Beside the plan before, new: replace b.b, create d.d; no more: update b.b, delete c.c."
	if got := difference(before, now); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := difference(before, before); !strings.Contains(got, "the same to the same objects") {
		t.Errorf("%q", got)
	}
}

func TestLockArgs(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		timeout      string
		wait, waited time.Duration
		unlocked     bool
		want         []string
	}{
		"as long as for other runs": {wait: 10 * time.Minute, waited: 30 * time.Second, want: []string{"-lock-timeout=9m30s"}},
		"the user waits longer":     {timeout: "20m", wait: 10 * time.Minute, want: []string{"-lock-timeout=20m0s"}},
		"the user waits less":       {timeout: "1s", wait: time.Minute, want: []string{"-lock-timeout=1m0s"}},
		"no waiting at all":         {},
		"none but the user's":       {timeout: "3s", want: []string{"-lock-timeout=3s"}},
		"no lock":                   {wait: time.Minute, unlocked: true},
		"nonsense":                  {timeout: "soon", wait: time.Minute, want: []string{"-lock-timeout=soon"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := run{
				inv:  arguments.Invocation{Weaver: arguments.Weaver{Wait: tt.wait}},
				opts: arguments.Options{LockTimeout: tt.timeout, Lock: !tt.unlocked}, waited: tt.waited,
			}
			if diff := cmp.Diff(tt.want, r.lockArgs(nil)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// planFile is an archive such as the CLI makes, with a state inside.
func planFile(t *testing.T, state string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "plan")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	z := zip.NewWriter(f)
	w, err := z.Create("tfstate")
	if err == nil {
		_, err = io.WriteString(w, state)
	}
	if err == nil {
		err = z.Close()
	}
	if err == nil {
		err = f.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func TestMadeOn(t *testing.T) {
	t.Parallel()
	got, err := madeOn(planFile(t, `{"version":4,"serial":7,"lineage":"l","resources":[]}`))
	if want := (stateVersion{7, "l"}); err != nil || got != want {
		t.Errorf("%v, %v", got, err)
	}
	secret := filepath.Join(t.TempDir(), "encrypted")
	write(t, secret, "not an archive", 0o600)
	if _, err := madeOn(secret); err == nil {
		t.Error("what cannot be read is read")
	}
}

func TestOvertaken(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r := run{workdir: terraform.Workdir{Root: dir, DataDir: filepath.Join(dir, ".terraform"), Backend: "local", Workspace: "default"}}
	none, _ := r.localVersion()
	if r.overtaken("none", none) {
		t.Error("a state that is not there is overtaken")
	}
	write(t, filepath.Join(dir, "terraform.tfstate"), `{"serial":2,"lineage":"l"}`, 0o600)
	for state, want := range map[string]bool{`{"serial":1,"lineage":"l"}`: true, `{"serial":2,"lineage":"l"}`: false, `{"serial":2,"lineage":"m"}`: true} {
		if got := r.overtaken(planFile(t, state), none); got != want {
			t.Errorf("made on %s: %v", state, got)
		}
	}
	if now, _ := r.localVersion(); r.overtaken("none", now) {
		t.Error("a state is overtaken that is as it was before the plan")
	}
	r.workdir.Backend = "s3"
	if r.overtaken("none", none) {
		t.Error("it is known for nothing that a state elsewhere is overtaken")
	}
}

// TestSomebodySlipsIn: the state is written by somebody else between the plan and
// its apply. It is planned again, what differs is said, and it is asked again.
func TestSomebodySlipsIn(t *testing.T) {
	t.Parallel()
	r := complete(t, "apply", "-no-color")
	write(t, filepath.Join(r.cli, "slip"), `{"serial":9,"lineage":"l"}`, 0o600)
	r.Stdin = typed(t, "yes\nyes\n")
	r.run(t, 0)
	calls := strings.Join(r.calls(t), "\n")
	if strings.Count(calls, "-out=PRIVATE/plan-") != 2 || strings.Count(calls, "PRIVATE/plan-2") != 3 || strings.Contains(calls, "apply -no-color -lock-timeout=10m0s -parallelism=10 PRIVATE/plan-1") {
		t.Errorf("calls:\n%s", calls)
	}
	if n := strings.Count(r.stdout.String(), "Enter a value:"); n != 2 {
		t.Errorf("asked %d times:\n%s", n, r.stdout)
	}
	for _, want := range []string{"Planning again", "attempt 2 of 5", "the same to the same objects"} {
		if !strings.Contains(strings.Join(strings.Fields(strings.ReplaceAll(r.stderr.String(), "│", " ")), " "), want) {
			t.Errorf("standard error lacks %q:\n%s", want, r.stderr)
		}
	}
}

// TestANoIsHeardTheSecondTime: the second plan is not applied without its own
// approval.
func TestANoIsHeardTheSecondTime(t *testing.T) {
	t.Parallel()
	r := complete(t, "apply", "-no-color")
	write(t, filepath.Join(r.cli, "slip"), `{"serial":9,"lineage":"l"}`, 0o600)
	r.Stdin = typed(t, "yes\nno\n")
	r.run(t, 1)
	if calls := strings.Join(r.calls(t), "\n"); strings.Contains(calls, "apply") {
		t.Errorf("something was applied:\n%s", calls)
	}
}

// TestStaleForEver: after the last attempt the CLI's own error stands.
func TestStaleForEver(t *testing.T) {
	t.Parallel()
	r := complete(t, "apply", "-auto-approve", "-no-color")
	write(t, filepath.Join(r.cli, "err.apply"), stalePlain, 0o600)
	write(t, filepath.Join(r.cli, "code.apply"), "1", 0o600)
	r.run(t, 1)
	calls := strings.Join(r.calls(t), "\n")
	if n := strings.Count(calls, "-out=PRIVATE/plan-"); n != maxPlans {
		t.Errorf("planned %d times:\n%s", n, calls)
	}
	if n := strings.Count(r.stderr.String(), "Saved plan is stale"); n != 1 {
		t.Errorf("said %d times that the plan is stale:\n%s", n, r.stderr)
	}
}

// TestALockThatIsMetIsExplained: the CLI fails for the lock, in whatever command,
// and it is said that somebody else had it. Nobody has it any more here; the file
// that a dead one left behind is not believed.
func TestALockThatIsMetIsExplained(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"plan", "-no-color"}, {"apply", "-auto-approve", "-no-color"}, {"refresh", "-no-color"}} {
		r := complete(t, args...)
		command := args[0]
		if command == "apply" {
			command = "plan"
		}
		write(t, filepath.Join(r.cli, "err."+command), "\nError: Error acquiring the state lock\n\nLock Info:\n  Who: me\n", 0o600)
		write(t, filepath.Join(r.cli, "code."+command), "1", 0o600)
		write(t, filepath.Join(r.work, "terraform.tfstate"), `{"serial":1}`, 0o600)
		write(t, filepath.Join(r.work, ".terraform.tfstate.lock.info"), `{"ID":"1234","Who":"mallory@bench"}`, 0o600)
		r.run(t, 1)
		if said := r.stderr.String(); !strings.Contains(said, "The state was not locked for this run") || strings.Contains(said, "mallory") {
			t.Errorf("%v: standard error:\n%s", args, said)
		}
	}
}

func TestLockedBy(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 9, 0, 40, 0, time.UTC)
	r := run{binary: terraform.Binary{Product: terraform.Terraform}, app: &App{Now: func() time.Time { return now }}}
	lock := statelock.Lock{ID: "1234", Operation: "OperationTypeApply", Who: "mallory@bench", Version: "1.11.4", Created: now.Add(-40 * time.Second), Info: "nightly run"}
	alice := coordinator.SessionStatus{
		Session: admission.Session{ID: "alice-1", Actor: "alice", Phase: "awaiting approval", RunURL: "https://ci.example/7"},
		Intents: []admission.Intent{{Objective: "open the shop"}},
	}
	for want, colleagues := range map[string][]coordinator.SessionStatus{
		"none of the runs that line up": nil,
		"With tfweaver, at this moment: alice (session alice-1, 'open the shop', awaiting approval, https://ci.example/7).": {alice},
	} {
		p := r.lockedBy(lock, colleagues)
		for _, want := range []string{want, "mallory@bench has Terraform's own lock of the state for 40s (apply, version 1.11.4).", `It says: "nightly run"`, "`terraform force-unlock 1234`", "-lock-timeout"} {
			if !strings.Contains(p.Detail, want) {
				t.Errorf("lacks %q:\n%s", want, p.Detail)
			}
		}
	}
}

// TestOtherErrorsNameNobody is its control.
func TestOtherErrorsNameNobody(t *testing.T) {
	t.Parallel()
	r := complete(t, "plan", "-no-color")
	write(t, filepath.Join(r.cli, "err.plan"), "\nError: something else\n", 0o600)
	write(t, filepath.Join(r.cli, "code.plan"), "1", 0o600)
	write(t, filepath.Join(r.work, "terraform.tfstate"), `{"serial":1}`, 0o600)
	write(t, filepath.Join(r.work, ".terraform.tfstate.lock.info"), `{"ID":"1234","Who":"mallory@bench"}`, 0o600)
	r.run(t, 1)
	if strings.Contains(r.stderr.String(), "mallory") {
		t.Errorf("somebody is blamed:\n%s", r.stderr)
	}
}
