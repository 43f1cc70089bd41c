// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

//go:build !windows

package command

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tfweaver/tfweaver/internal/version"
	"github.com/tfweaver/tfweaver/wrapper/plugins/plugintest"
	"github.com/tfweaver/tfweaver/wrapper/terraform"
)

func (r *rig) run(t *testing.T, want int) {
	t.Helper()
	if code := r.Run(t.Context()); code != want {
		t.Fatalf("exit code %d, want %d\nstdout: %s\nstderr: %s", code, want, r.stdout, r.stderr)
	}
}

func TestOtherCommandsAreReplaced(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"init", "-upgrade"}, {"-chdir=x", "state", "list"}, {"init", "-help"}, {"apply", "-help", "-weaver-off"}, {"plan", "-weaver-off", "-out=p"}} {
		r := newRig(t, args...)
		r.run(t, 7)
		want := "replaced by " + filepath.Join(r.cli, "terraform") + " " + strings.Join(removed(args, "-weaver-off"), " ") + "\n"
		if r.stdout.String() != want || r.stderr.Len() > 0 {
			t.Errorf("got %q, want %q; %s", r.stdout, want, r.stderr)
		}
	}
}

func removed(args []string, arg string) []string {
	var out []string
	for _, a := range args {
		if a != arg {
			out = append(out, a)
		}
	}
	return out
}

func TestAConfigurationWithoutProvidersIsReplaced(t *testing.T) {
	t.Parallel()
	r := newRig(t, "apply", "-auto-approve")
	r.run(t, 7)
}

// TestMisspeltCommands: the CLI says that it has no such command, and is left to it.
func TestMisspeltCommands(t *testing.T) {
	t.Parallel()
	for command, want := range map[string]string{"staus": "tfweaver status", "unheard-of": "", "output": ""} {
		for _, off := range []bool{false, true} {
			r := newRig(t, command)
			if off {
				r.Env = r.Env.With("TFWEAVER_OFF", "1")
				want = ""
			}
			r.run(t, 7)
			if said := r.stderr.String(); (want == "") != (said == "") || !strings.Contains(said, want) {
				t.Errorf("%s, off %v: standard error %q", command, off, said)
			}
			if !strings.Contains(r.stdout.String(), "replaced by") {
				t.Errorf("%s was not left to the CLI: %s", command, r.stdout)
			}
		}
	}
}

func TestHelpNamesBoth(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		args         []string
		stdout       string
		commands, to bool
	}{
		{[]string{"-help"}, "native -help\n", true, true},
		{[]string{"help"}, "native -help\n", true, true},
		{nil, "native \n", true, true},
		{[]string{"import", "-help"}, "native import -help\n", false, true},
		{[]string{"help", "test"}, "native test -help\n", false, true},
	} {
		r := newRig(t, tt.args...)
		r.run(t, 0)
		if r.stdout.String() != tt.stdout {
			t.Errorf("%v: standard output %q, want %q", tt.args, r.stdout, tt.stdout)
		}
		text := r.stderr.String()
		if tt.commands != strings.Contains(text, "resolve ID") || tt.commands != strings.Contains(text, "-weaver-version") || tt.to != strings.Contains(text, "-weaver-intent") {
			t.Errorf("%v: standard error %q", tt.args, text)
		}
	}
	for _, command := range []string{"apply", "plan", "destroy"} {
		r := newRig(t, command, "-help")
		r.run(t, 0)
		if text := r.stderr.String(); !strings.Contains(text, "-weaver-wait") || strings.Contains(text, "resolve ID") {
			t.Errorf("%s -help: standard error %q", command, text)
		}
	}
}

func TestTheOwnVersion(t *testing.T) {
	t.Parallel()
	r := newRig(t, "-weaver-version")
	r.run(t, 0)
	if got := r.stdout.String(); got != "tfweaver "+version.Version+"\n" || r.stderr.Len() > 0 {
		t.Errorf("standard output %q, standard error %q", got, r.stderr)
	}
}

func TestOwnHelp(t *testing.T) {
	t.Parallel()
	for command, texts := range map[string][]string{
		"status":  {"-weaver-coordinator=ADDR", "-json"},
		"why":     {"-weaver-coordinator=ADDR", "<id>"},
		"locks":   {"-weaver-coordinator=ADDR"},
		"report":  {"-weaver-coordinator=ADDR", "-json"},
		"resolve": {"-weaver-coordinator=ADDR", "(-exists | -gone)", "-reason=TEXT"},
		"serve":   {"-listen=ADDR", "-idle-exit=", "-tls-cert=FILE", "-tls-key=FILE", "-token-file=FILE"},
	} {
		for _, args := range [][]string{{command, "-help"}, {"help", command}} {
			r := newRig(t, args...)
			r.run(t, 0)
			for _, text := range texts {
				if !strings.Contains(r.stdout.String(), text) {
					t.Errorf("%v lacks %q:\n%s", args, text, r.stdout)
				}
			}
			if strings.Contains(r.stdout.String(), " --") {
				t.Errorf("%v has options with two dashes:\n%s", args, r.stdout)
			}
		}
	}
}

func TestBadInputSendsNothing(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		prepare func(t *testing.T) *rig
		code    int
		texts   []string
	}{
		"option": {func(t *testing.T) *rig { return newRig(t, "apply", "-weaver-intend=x") }, ExitSetup, []string{"-weaver-intend"}},
		"no CLI": {func(t *testing.T) *rig {
			r := newRig(t, "apply")
			r.Env = r.Env.With("PATH", "/nonexistent")
			return r
		}, terraform.ExitNotFound, []string{"TFWEAVER_TERRAFORM"}},
		"coordinator": {func(t *testing.T) *rig {
			r := newRig(t, "apply", "-weaver-coordinator=unix:///nonexistent/s")
			r.install(t)
			return r
		}, ExitSetup, []string{"unix:///nonexistent/s", "tfweaver serve", "Nothing was sent"}},
		"pack": {func(t *testing.T) *rig {
			r := newRig(t, "apply")
			r.install(t)
			write(t, filepath.Join(r.work, "rules", "bad.hcl"), "pack {", 0o600)
			r.Env = r.Env.With("TFWEAVER_RULES", filepath.Join(r.work, "rules"))
			return r
		}, ExitSetup, []string{"Broken rule pack", "/rules/bad.hcl:1", "TFWEAVER_RULES"}},
		"folder of packs": {func(t *testing.T) *rig {
			r := newRig(t, "apply")
			r.install(t)
			r.Env = r.Env.With("TFWEAVER_RULES", "/nonexistent/rules")
			return r
		}, ExitSetup, []string{"rule packs cannot be read", "TFWEAVER_RULES names the folder /nonexistent/rules", "Correct TFWEAVER_RULES"}},
		"folder of packs, as an option": {func(t *testing.T) *rig {
			r := newRig(t, "apply", "-weaver-rules=/nonexistent/rules")
			r.install(t)
			return r
		}, ExitSetup, []string{"-weaver-rules names the folder /nonexistent/rules", "Correct -weaver-rules"}},
		"coordinator of the environment": {func(t *testing.T) *rig {
			r := newRig(t, "apply")
			r.install(t)
			r.Env = r.Env.With("TFWEAVER_COORDINATOR", "unix:///nonexistent/s")
			return r
		}, ExitSetup, []string{"orrect TFWEAVER_COORDINATOR.", "tfweaver serve -listen unix:///nonexistent/s"}},
		"tampered": {func(t *testing.T) *rig {
			r := newRig(t, "apply")
			r.install(t)
			write(t, filepath.Join(r.work, ".terraform.lock.hcl"),
				"provider \""+plugintest.Source+"\" {\n  version = \"1.0.0\"\n  hashes = [\"h1:AAAA\"]\n}\n", 0o600)
			return r
		}, ExitSetup, []string{plugintest.Source, "not started"}},
		"own command": {func(t *testing.T) *rig { return newRig(t, "why") }, ExitSetup, []string{"why", "<id>", "tfweaver why -help"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := tt.prepare(t)
			r.run(t, tt.code)
			for _, text := range tt.texts {
				if !strings.Contains(r.stderr.String(), text) {
					t.Errorf("standard error lacks %q:\n%s", text, r.stderr)
				}
			}
			if strings.Count(r.stderr.String(), "Error:") != 1 {
				t.Errorf("not one error:\n%s", r.stderr)
			}
			if text, err := os.ReadFile(filepath.Join(r.cli, "calls")); err == nil && strings.Contains(string(text), "apply") {
				t.Errorf("the CLI was called: %s", text)
			}
		})
	}
}

func TestTwoSteps(t *testing.T) {
	t.Parallel()
	r := complete(t, "apply", "-no-color", "-var", "x=1", "-target=a.b", "-lock-timeout=3s", "-parallelism=4")
	r.Env = r.Env.With("TF_CLI_ARGS_apply", "-compact-warnings").With("TF_CLI_ARGS_plan", "-detailed-exitcode")
	r.Stdin = typed(t, "yes\n")
	r.run(t, 0)
	want := []string{
		"version -json",
		"plan -compact-warnings -no-color -var x=1 -target=a.b -lock-timeout=3s -parallelism=4 -out=PRIVATE/plan-1",
		"show -json PRIVATE/plan-1",
		"apply -compact-warnings -no-color -var x=1 -lock-timeout=10m0s -parallelism=4 PRIVATE/plan-1",
	}
	if diff := cmp.Diff(want, r.calls(t)); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
	if got := r.stdout.String(); !strings.HasPrefix(got, "the plan\n\nDo you want to perform these actions?\n") || !strings.HasSuffix(got, "Enter a value: \nthe apply\n") {
		t.Errorf("standard output %q", got)
	}
	if got := r.stderr.String(); !strings.Contains(got, "fixture_thing") || !strings.Contains(got, "Coordinated on") {
		t.Errorf("standard error %q", got)
	}
	for _, command := range []string{"plan", "apply"} {
		env := r.envOf(t, command)
		if !strings.Contains(env.Get("TF_REATTACH_PROVIDERS"), plugintest.Source) {
			t.Errorf("%s without proxies: %v", command, env)
		}
		if env.Get("TF_CLI_ARGS_apply") != "" || env.Get("TF_CLI_ARGS_plan") != "" {
			t.Errorf("%s has options of the other half: %v", command, env)
		}
		if auto := env.Get("TF_IN_AUTOMATION"); (auto == "1") != (command == "plan") {
			t.Errorf("%s: TF_IN_AUTOMATION=%q", command, auto)
		}
	}
	if env := r.envOf(t, "version"); env.Get("TF_REATTACH_PROVIDERS") != "" {
		t.Error("proxies for the version")
	}
	plan, err := os.ReadFile(filepath.Join(r.cli, "planfile"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Dir(strings.TrimSpace(string(plan)))); !os.IsNotExist(err) {
		t.Errorf("the plan is left behind: %v", err)
	}
}

// typed is an input that the CLI inherits, as it does the terminal.
func typed(t *testing.T, text string) *os.File {
	t.Helper()
	path := filepath.Join(t.TempDir(), "in")
	write(t, path, text, 0o600)
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f
}

func TestDestroyIsAPlanToDestroy(t *testing.T) {
	t.Parallel()
	r := complete(t, "destroy", "-auto-approve")
	r.run(t, 0)
	want := []string{"version -json", "plan -destroy -out=PRIVATE/plan-1", "show -json PRIVATE/plan-1", "apply -lock-timeout=10m0s -parallelism=10 PRIVATE/plan-1"}
	if diff := cmp.Diff(want, r.calls(t)); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
}

func TestAnswers(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		in           string
		signal       bool
		stdout, text string
	}{
		"no":        {in: "no\n", stdout: "Enter a value: \nApply cancelled.\n"},
		"y":         {in: "y\n", stdout: "Enter a value: \nApply cancelled.\n"},
		"nothing":   {stdout: "Enter a value: ", text: "error asking for approval: EOF"},
		"interrupt": {signal: true, stdout: "Enter a value: ", text: "error asking for approval: interrupted"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := complete(t, "apply", "-no-color")
			r.Stdin = typed(t, tt.in)
			if tt.signal {
				in, _, err := os.Pipe()
				if err != nil {
					t.Fatal(err)
				}
				r.Stdin = &interrupting{File: in, signals: r.signals}
			}
			r.run(t, 1)
			if !strings.HasSuffix(r.stdout.String(), tt.stdout) || !strings.Contains(r.stderr.String(), tt.text) {
				t.Errorf("stdout %q\nstderr %q", r.stdout, r.stderr)
			}
			for _, call := range r.calls(t) {
				if strings.HasPrefix(call, "apply") {
					t.Errorf("it was applied: %s", call)
				}
			}
		})
	}
}

// interrupting is an input on which nothing comes but Ctrl-C.
type interrupting struct {
	*os.File
	signals chan os.Signal
}

func (i *interrupting) Read(p []byte) (int, error) {
	i.signals <- syscall.SIGINT
	return i.File.Read(p)
}

func TestASignalBeforeTheCLIStarts(t *testing.T) {
	t.Parallel()
	r := complete(t, "apply", "-auto-approve")
	r.signals <- syscall.SIGINT
	r.run(t, ExitError)
	if !strings.Contains(r.stderr.String(), "Interrupted") {
		t.Errorf("standard error %q", r.stderr)
	}
	if text, err := os.ReadFile(filepath.Join(r.cli, "calls")); err == nil && strings.Contains(string(text), "plan") {
		t.Errorf("the CLI was called: %s", text)
	}
}

// closed is an output that nobody reads.
type closed struct{}

func (closed) Write([]byte) (int, error) { return 0, syscall.EPIPE }

func TestAQuestionThatNobodyReads(t *testing.T) {
	t.Parallel()
	r := complete(t, "apply")
	write(t, filepath.Join(r.cli, "plan.out"), "", 0o600)
	r.Stdin, r.Stdout = typed(t, "yes\n"), closed{}
	r.run(t, ExitError)
	if !strings.Contains(r.stderr.String(), "broken pipe") {
		t.Errorf("standard error %q", r.stderr)
	}
}

func TestNothingToApplyIsNotAsked(t *testing.T) {
	t.Parallel()
	r := complete(t, "apply")
	write(t, filepath.Join(r.cli, "plan.json"), planJSON(false), 0o600)
	r.run(t, 0)
	if got := r.stdout.String(); got != "the plan\nthe apply\n" {
		t.Errorf("standard output %q", got)
	}
}

func TestAFailedPlanEndsTheRun(t *testing.T) {
	t.Parallel()
	r := complete(t, "apply", "-auto-approve")
	write(t, filepath.Join(r.cli, "code.plan"), "1", 0o600)
	r.run(t, 1)
	if calls := r.calls(t); len(calls) != 2 {
		t.Errorf("calls %q", calls)
	}
}

func TestTheExitCodeOfTheCLI(t *testing.T) {
	t.Parallel()
	for command, code := range map[string]string{"plan": "2", "refresh": "1", "apply": "3"} {
		r := complete(t, command, "-auto-approve")
		if command == "plan" {
			r.Args = []string{"plan", "-detailed-exitcode"}
		}
		write(t, filepath.Join(r.cli, "code."+command), code, 0o600)
		r.run(t, int(code[0]-'0'))
	}
}

func TestASavedPlanIsApplied(t *testing.T) {
	t.Parallel()
	r := complete(t, "apply", "-lock=false", "my.plan")
	r.run(t, 0)
	want := []string{"version -json", "show -json my.plan", "apply -lock=false -parallelism=10 my.plan"}
	if diff := cmp.Diff(want, r.calls(t)); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
}

func TestWhatIsNotUnderstoodIsLeftToTheCLI(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"apply", "-unheard-of=1", "-auto-approve"}, {"apply", "a", "b"}, {"apply", "-json"}} {
		r := complete(t, args...)
		r.run(t, 0)
		want := []string{"version -json", strings.Join(args, " ")}
		if diff := cmp.Diff(want, r.calls(t)); diff != "" {
			t.Errorf("calls (-want +got):\n%s", diff)
		}
	}
}

func TestAStalePlanIsMadeAgain(t *testing.T) {
	t.Parallel()
	r := complete(t, "apply", "-auto-approve", "-no-color")
	write(t, filepath.Join(r.cli, "apply.err"), "\nError: Saved plan is stale\n", 0o600)
	r.run(t, 0)
	calls := strings.Join(r.calls(t), "\n")
	if strings.Count(calls, "plan -no-color") != 2 || !strings.Contains(calls, "PRIVATE/plan-2") {
		t.Errorf("calls:\n%s", calls)
	}
	if !strings.Contains(r.stderr.String(), "attempt 2 of 5") {
		t.Errorf("standard error %q", r.stderr)
	}
}

func TestAnotherErrorIsNoReasonToPlanAgain(t *testing.T) {
	t.Parallel()
	r := complete(t, "apply", "-auto-approve")
	write(t, filepath.Join(r.cli, "apply.err"), "\nError: no\n", 0o600)
	r.run(t, 1)
}

func TestJSONLines(t *testing.T) {
	t.Parallel()
	r := complete(t, "apply", "-json", "-auto-approve")
	write(t, filepath.Join(r.cli, "plan.out"), "{\"type\":\"version\"}\n{\"type\":\"planned_change\"}\n", 0o600)
	write(t, filepath.Join(r.cli, "apply.out"), "{\"type\":\"version\"}\n{\"type\":\"planned_change\"}\n{\"type\":\"apply_complete\"}\n", 0o600)
	r.run(t, 0)
	want := "{\"type\":\"version\"}\n{\"type\":\"planned_change\"}\n{\"type\":\"apply_complete\"}\n"
	if got := r.stdout.String(); got != want {
		t.Errorf("standard output %q, want %q", got, want)
	}
	if said := r.stderr.String(); !strings.Contains(said, "oordinated on ") {
		t.Errorf("the summary is not on standard error: %q", said)
	}
}

func TestInspection(t *testing.T) {
	t.Parallel()
	r := newRig(t, "status", "-json")
	r.coordinator(t)
	r.run(t, 0)
	var s struct{ Sessions []any }
	if err := json.Unmarshal(r.stdout.Bytes(), &s); err != nil {
		t.Errorf("status -json: %v\n%s", err, r.stdout)
	}
	for _, tt := range []struct {
		args []string
		code int
		text string
	}{
		{[]string{"status"}, 0, "No session is open."},
		{[]string{"locks"}, 0, "No lock is held."},
		{[]string{"locks", "-json"}, 0, "[]"},
		{[]string{"why", "t99"}, ExitError, "t99"},
		{[]string{"resolve", "t99", "-reason=x", "-gone"}, ExitError, "t99"},
		{[]string{"resolve", "t99", "-reason=x"}, ExitSetup, "-gone"},
		{[]string{"serve"}, ExitSetup, "\"tfweaver serve -help\""},
		{[]string{"status", "-h"}, 0, "Usage"},
	} {
		r.stdout.Reset()
		r.stderr.Reset()
		r.Args = tt.args
		r.run(t, tt.code)
		if !strings.Contains(r.stdout.String()+r.stderr.String(), tt.text) {
			t.Errorf("%v: %q %q", tt.args, r.stdout, r.stderr)
		}
	}
}
