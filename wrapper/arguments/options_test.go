// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package arguments

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func mustParse(t *testing.T, args ...string) Invocation {
	t.Helper()
	inv, err := Parse(args, nil)
	if err != nil {
		t.Fatal(err)
	}
	return inv
}

func defaults(change func(*Options)) Options {
	o := Options{Input: true, Lock: true, Refresh: true, Parallelism: DefaultParallelism}
	change(&o)
	return o
}

func TestOptions(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		args []string
		env  Environment
		want Options
	}{
		"defaults": {args: []string{"apply"}, want: defaults(func(*Options) {})},
		"both spellings and both value forms": {
			args: []string{"apply", "-auto-approve", "--lock=false", "-parallelism", "3", "--state=s.json", "-var", "a=b", "-var=c=d", "-var-file=f", "-target", "x.y", "-replace=x.z", "-refresh=false", "-lock-timeout=5s"},
			want: defaults(func(o *Options) {
				o.AutoApprove, o.Lock, o.Refresh, o.Parallelism, o.State, o.LockTimeout = true, false, false, 3, "s.json", "5s"
				o.Vars, o.VarFiles, o.Targets, o.Replaces = []string{"a=b", "c=d"}, []string{"f"}, []string{"x.y"}, []string{"x.z"}
			}),
		},
		"destroy is a kind of apply": {
			args: []string{"destroy", "-json"},
			want: defaults(func(o *Options) { o.Destroy, o.JSON = true, true }),
		},
		"a plan file ends the options": {
			args: []string{"apply", "-no-color", "tf.plan", "-json"},
			want: defaults(func(o *Options) { o.NoColor, o.Positional = true, []string{"tf.plan", "-json"} }),
		},
		"two dashes end the options": {
			args: []string{"apply", "--", "-plan"},
			want: defaults(func(o *Options) { o.Positional = []string{"-plan"} }),
		},
		"the environment comes first": {
			args: []string{"plan", "-parallelism=4"},
			env:  Environment{"TF_CLI_ARGS=-no-color -parallelism=2", "TF_CLI_ARGS_plan=-out='my plan' -detailed-exitcode", "TF_INPUT=0"},
			want: defaults(func(o *Options) {
				o.NoColor, o.Parallelism, o.Out, o.DetailedExitCode, o.Input = true, 4, "my plan", true, false
			}),
		},
		"an unknown option is left to Terraform": {
			args: []string{"apply", "-frob"},
			want: defaults(func(o *Options) { o.Unclear = true }),
		},
		"so is one of another command": {
			args: []string{"apply", "-out=x"},
			want: defaults(func(o *Options) { o.Unclear, o.Out = true, "x" }),
		},
		"so is a value that cannot be read": {
			args: []string{"apply", "-parallelism=many"},
			want: defaults(func(o *Options) { o.Unclear = true }),
		},
		"and a missing one": {
			args: []string{"apply", "-state"},
			want: defaults(func(o *Options) { o.Unclear = true }),
		},
		"and an open quote": {
			args: []string{"apply"}, env: Environment{"TF_CLI_ARGS_apply='"},
			want: defaults(func(o *Options) { o.Unclear = true }),
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := mustParse(t, tt.args...).Options(tt.env)
			if diff := cmp.Diff(tt.want, got, cmpopts.IgnoreFields(Options{}, "Flags"), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("Options (-want +got):\n%s", diff)
			}
		})
	}
}

func TestPlanFile(t *testing.T) {
	t.Parallel()
	if got := mustParse(t, "apply", "-no-color", "p").Options(nil).PlanFile(); got != "p" {
		t.Errorf("the plan file is %q", got)
	}
	if got := mustParse(t, "apply").Options(nil).PlanFile(); got != "" {
		t.Errorf("the plan file is %q, want none", got)
	}
}

func TestHalves(t *testing.T) {
	t.Parallel()
	o := mustParse(t, "apply", "-auto-approve", "-json", "-target", "a.b", "-var", "x=1", "-backup=b", "-parallelism=3", "-destroy").
		Options(Environment{"TF_CLI_ARGS_apply=-lock-timeout 3s"})
	plan := []string{"-lock-timeout", "3s", "-json", "-target", "a.b", "-var", "x=1", "-parallelism=3", "-destroy"}
	if diff := cmp.Diff(plan, o.For(PlanHalf)); diff != "" {
		t.Errorf("plan half (-want +got):\n%s", diff)
	}
	apply := []string{"-lock-timeout", "3s", "-json", "-backup=b"}
	if diff := cmp.Diff(apply, o.For(ApplyHalf, "parallelism", "var")); diff != "" {
		t.Errorf("apply half (-want +got):\n%s", diff)
	}
}

func TestSplitWords(t *testing.T) {
	t.Parallel()
	tests := map[string][]string{
		"":                          nil,
		"  -a   -b=c ":              {"-a", "-b=c"},
		`-var 'a="b c"' -x=\ `:      {"-var", `a="b c"`, "-x= "},
		`"a 'b'"c ''`:               {"a 'b'c", ""},
		"-var=\"list=[\\\"x\\\"]\"": {`-var=list=["x"]`},
	}
	for in, want := range tests {
		got, err := splitWords(in)
		if err != nil {
			t.Errorf("%q: %v", in, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", in, diff)
		}
	}
	for _, in := range []string{"'a", `"a`, "a\\"} {
		if _, err := splitWords(in); err == nil {
			t.Errorf("%q is accepted", in)
		}
	}
}
