// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package arguments

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func weaver(change func(*Weaver)) Weaver {
	w := Weaver{Wait: DefaultWait, Policy: PolicyQueue, Offline: OfflineDeny, TokenEnv: TokenVariable}
	if change != nil {
		change(&w)
	}
	return w
}

func TestParse(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		args []string
		env  Environment
		want Invocation
	}{
		"nothing": {want: Invocation{Weaver: weaver(nil)}},
		"everything unknown stays in order": {
			args: []string{"-chdir=net", "apply", "-auto-approve", "-frob=1", "--", "-weaver-off", "x"},
			want: Invocation{
				Weaver: weaver(nil), Global: []string{"-chdir=net"}, Command: "apply",
				Args: []string{"-auto-approve", "-frob=1", "--", "-weaver-off", "x"},
			},
		},
		"own options before and after the command, in all spellings": {
			args: []string{"-weaver-intent", "add subnet", "apply", "--weaver-wait=90s", "plan.bin", "-weaver-coordinator=unix:///c", "-weaver-exit-codes"},
			want: Invocation{
				Weaver: weaver(func(w *Weaver) {
					w.Intent, w.Wait, w.Coordinator, w.ExitCodes = "add subnet", 90*time.Second, "unix:///c", true
				}),
				Command: "apply", Args: []string{"plan.bin"},
			},
		},
		"the value of an option is no option": {
			args: []string{"apply", "-var", "-weaver-off", "-weaver-off=false"},
			want: Invocation{Weaver: weaver(nil), Command: "apply", Args: []string{"-var", "-weaver-off"}},
		},
		"not waiting is refusing": {
			args: []string{"apply", "-weaver-wait", "0s"},
			want: Invocation{Weaver: weaver(func(w *Weaver) { w.Wait, w.Policy = 0, PolicyReject }), Command: "apply"},
		},
		"the command line overrides the environment": {
			args: []string{"plan", "-weaver-policy=queue"},
			env:  Environment{"TFWEAVER_POLICY=reject", "TFWEAVER_INTENT=nightly", "TFWEAVER_WAIT=", "TFWEAVER_OFF=1", "TFWEAVER_RULES=/r"},
			want: Invocation{
				Weaver:  weaver(func(w *Weaver) { w.Intent, w.Off, w.Rules = "nightly", true, "/r" }),
				Command: "plan",
			},
		},
		"help": {
			args: []string{"help"},
			want: Invocation{Weaver: weaver(nil), Global: []string{"-help"}},
		},
		"help of a command": {
			args: []string{"-chdir=x", "help", "state", "list"},
			want: Invocation{Weaver: weaver(nil), Global: []string{"-chdir=x"}, Command: "state", Args: []string{"list", "-help"}},
		},
		"help of one of tfweaver's own commands": {
			args: []string{"help", "why"},
			want: Invocation{Weaver: weaver(nil), Command: "why", Args: []string{"-help"}, Own: true},
		},
		"tfweaver's own version": {
			args: []string{"-weaver-version"},
			want: Invocation{Weaver: weaver(func(w *Weaver) { w.Version = true })},
		},
		"sharing": {
			args: []string{"apply", "-weaver-lease=5s", "-weaver-offline=allow", "-weaver-mode", "observe", "-weaver-ca-file=ca.pem"},
			env:  Environment{"TFWEAVER_COORDINATOR=tcp://h:1", "TFWEAVER_TOKEN_FILE=/t", "TFWEAVER_OFFLINE=deny", "TFWEAVER_LEASE=9s", "TFWEAVER_LOCAL=1"},
			want: Invocation{
				Weaver: weaver(func(w *Weaver) {
					w.Lease, w.Offline, w.Mode, w.CAFile, w.TokenFile = 5*time.Second, OfflineAllow, ModeObserve, "ca.pem", "/t"
					w.Coordinator, w.Local = "tcp://h:1", true
				}),
				Command: "apply",
			},
		},
		"this machine alone, whatever the environment names": {
			args: []string{"apply", "-weaver-local"},
			env:  Environment{"TFWEAVER_COORDINATOR=tcp://h:1"},
			want: Invocation{Weaver: weaver(func(w *Weaver) { w.Local = true }), Command: "apply"},
		},
		"no mode is no coordination": {
			args: []string{"apply", "-weaver-mode=off"},
			want: Invocation{Weaver: weaver(func(w *Weaver) { w.Mode, w.Off = ModeOff, true }), Command: "apply"},
		},
		"an override with its reason": {
			args: []string{"apply", "-weaver-override=t12", "-weaver-reason=the holder is gone"},
			want: Invocation{Weaver: weaver(func(w *Weaver) { w.Override, w.Reason = "t12", "the holder is gone" }), Command: "apply"},
		},
		"an override with a short reason in front": {
			args: []string{"apply", "-reason", "gone", "--weaver-override", "t12", "-auto-approve"},
			want: Invocation{Weaver: weaver(func(w *Weaver) { w.Override, w.Reason = "t12", "gone" }), Command: "apply", Args: []string{"-auto-approve"}},
		},
		"an override of the environment, whose reason is an option": {
			args: []string{"apply", "-reason=gone"},
			env:  Environment{"TFWEAVER_OVERRIDE=t12"},
			want: Invocation{Weaver: weaver(func(w *Weaver) { w.Override, w.Reason = "t12", "gone" }), Command: "apply"},
		},
		"a reason of another kind": {
			args: []string{"apply", "-reason=x"},
			want: Invocation{Weaver: weaver(nil), Command: "apply", Args: []string{"-reason=x"}},
		},
		"an override of the environment, of which others know nothing": {
			args: []string{"init"},
			env:  Environment{"TFWEAVER_OVERRIDE=t12"},
			want: Invocation{Weaver: weaver(func(w *Weaver) { w.Override = "t12" }), Command: "init"},
		},
		"the reason of a settlement": {
			args: []string{"resolve", "t1", "-reason=x"},
			env:  Environment{"TFWEAVER_OVERRIDE=t12", "TFWEAVER_REASON=y"},
			want: Invocation{Weaver: weaver(func(w *Weaver) { w.Override, w.Reason = "t12", "y" }), Command: "resolve", Args: []string{"t1", "-reason=x"}, Own: true},
		},
		"one of tfweaver's own commands": {
			args: []string{"why", "c-12", "-json"},
			want: Invocation{Weaver: weaver(nil), Command: "why", Args: []string{"c-12", "-json"}, Own: true},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := Parse(tt.args, tt.env)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got, cmpopts.IgnoreFields(Weaver{}, "From")); diff != "" {
				t.Errorf("Parse (-want +got):\n%s", diff)
			}
		})
	}
}

func TestParseRefusesMistakes(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		args []string
		env  Environment
		name string
	}{
		"misspelt":        {args: []string{"apply", "-weaver-intend=x"}, name: "-weaver-intend"},
		"no value":        {args: []string{"apply", "-weaver-intent"}, name: "-weaver-intent"},
		"no duration":     {args: []string{"apply", "-weaver-wait=10"}, name: "-weaver-wait"},
		"negative":        {args: []string{"apply", "-weaver-wait=-1s"}, name: "-weaver-wait"},
		"no policy":       {args: []string{"apply", "-weaver-policy=hope"}, name: "-weaver-policy"},
		"no boolean":      {args: []string{"apply", "-weaver-off=perhaps"}, name: "-weaver-off"},
		"the environment": {args: []string{"apply"}, env: Environment{"TFWEAVER_WAIT=soon"}, name: "TFWEAVER_WAIT"},
		"no mode":         {args: []string{"apply", "-weaver-mode=strict"}, name: "-weaver-mode"},
		"no such offline": {args: []string{"apply", "-weaver-offline=ask"}, name: "-weaver-offline"},
		"a short lease":   {args: []string{"apply", "-weaver-lease=1s"}, name: "-weaver-lease"},
		"a long lease":    {args: []string{"status"}, env: Environment{"TFWEAVER_LEASE=2h"}, name: "TFWEAVER_LEASE"},
		"no reason":       {args: []string{"apply", "-weaver-override=t1"}, name: "-weaver-override"},
		"a blank reason":  {args: []string{"apply", "-weaver-override=t1", "-weaver-reason= "}, name: "-weaver-override"},
		"no decision":     {args: []string{"apply", "-weaver-reason=x"}, name: "-weaver-reason"},
		"no override":     {args: []string{"apply", "-weaver-override=", "-weaver-reason=x"}, name: "-weaver-override"},
		"no coordinator":  {args: []string{"apply", "-weaver-coordinator="}, name: "-weaver-coordinator"},
		"two places":      {args: []string{"apply", "-weaver-local", "-weaver-coordinator=tcp://h:1"}, name: "-weaver-local"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := Parse(tt.args, tt.env)
			var usage *UsageError
			if !errors.As(err, &usage) {
				t.Fatalf("error %v is no *UsageError", err)
			}
			if usage.Name != tt.name {
				t.Errorf("the error blames %s, want %s", usage.Name, tt.name)
			}
		})
	}
}

// TestVariablesStopNobodyElse: a mistake in a variable is none of those who ask for no
// coordination. On their command lines it is one.
func TestVariablesStopNobodyElse(t *testing.T) {
	t.Parallel()
	for _, env := range []Environment{{"TFWEAVER_WAIT=zz"}, {"TFWEAVER_OVERRIDE=", "TFWEAVER_OFF=perhaps", "TFWEAVER_MODE=off"}} {
		for _, line := range []string{"", "output", "fmt -check", "state list", "unheard-of", "apply -help", "help apply", "-version", "-weaver-version"} {
			if _, err := Parse(strings.Fields(line), env); err != nil {
				t.Errorf("%v %q: %v", env, line, err)
			}
		}
		for _, line := range []string{"plan", "apply", "status", "doctor"} {
			if _, err := Parse(strings.Fields(line), env); err == nil {
				t.Errorf("%v %q: no error", env, line)
			}
		}
	}
	if _, err := Parse([]string{"output", "-weaver-wait=zz"}, nil); err == nil {
		t.Error("a mistake on the command line is none")
	}
}

func TestArgvIsTheCommandLineWithoutOurOptions(t *testing.T) {
	t.Parallel()
	inv, err := Parse([]string{"-chdir=a b", "-weaver-off", "state", "mv", "-weaver-intent=x", "-lock=false", "a", "b"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"-chdir=a b", "state", "mv", "-lock=false", "a", "b"}
	if diff := cmp.Diff(want, inv.Argv()); diff != "" {
		t.Errorf("Argv (-want +got):\n%s", diff)
	}
	if got := inv.Chdir(); got != "a b" {
		t.Errorf("Chdir is %q", got)
	}
}

func TestHelp(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]bool{"-help": true, "--version": true, "-v": true, "-h": true, "-chdir=x": false} {
		inv, err := Parse([]string{line}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if inv.Help() != want {
			t.Errorf("Help of %s is %v", line, !want)
		}
	}
}

func TestEnvironment(t *testing.T) {
	t.Parallel()
	env := Environment{"A=1", "B=2", "A=3", "AB=4"}
	if got := env.Get("A"); got != "3" {
		t.Errorf("A is %q, want the last value", got)
	}
	if _, ok := env.Lookup("C"); ok {
		t.Error("C is set")
	}
	want := Environment{"B=2", "AB=4", "A=5"}
	if diff := cmp.Diff(want, env.With("A", "5")); diff != "" {
		t.Errorf("With (-want +got):\n%s", diff)
	}
	if len(env) != 4 || env[0] != "A=1" {
		t.Error("With changed the original")
	}
}

func TestWhereAValueComesFrom(t *testing.T) {
	t.Parallel()
	inv, err := Parse([]string{"apply", "--weaver-mode=wait", "-weaver-rules", "/r"}, Environment{"TFWEAVER_RULES=/s", "TFWEAVER_WAIT=3m"})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"mode": "-weaver-mode", "rules": "-weaver-rules", "wait": "TFWEAVER_WAIT"}
	if diff := cmp.Diff(want, inv.Weaver.From); diff != "" {
		t.Errorf("From (-want +got):\n%s", diff)
	}
	if inv.Weaver.Given("policy") || !inv.Weaver.Given("wait") {
		t.Error("Given does not say what is given")
	}
}
