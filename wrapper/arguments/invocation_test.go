// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package arguments

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func weaver(change func(*Weaver)) Weaver {
	w := Weaver{Wait: DefaultWait, Policy: PolicyQueue}
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
					w.CoordinatorFrom = "-weaver-coordinator"
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
				Weaver:  weaver(func(w *Weaver) { w.Intent, w.Off, w.Rules, w.RulesFrom = "nightly", true, "/r", "TFWEAVER_RULES" }),
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
			if diff := cmp.Diff(tt.want, got); diff != "" {
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
		"the environment": {env: Environment{"TFWEAVER_WAIT=soon"}, name: "TFWEAVER_WAIT"},
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
