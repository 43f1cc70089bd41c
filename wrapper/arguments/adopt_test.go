// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package arguments

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tfweaver/tfweaver/wrapper/settings"
)

// TestPrecedence: the command line is stronger than the environment, which is
// stronger than the settings.
func TestPrecedence(t *testing.T) {
	t.Parallel()
	const path = "/repo/.tfweaver.hcl"
	five := 5 * time.Minute
	none := time.Duration(0)
	shared := &settings.Coordinator{Address: "tcp://file:1", CAFile: "/repo/ca.pem", TokenEnv: "CI_WEAVER"}
	type result struct {
		Coordinator, CAFile, TokenFile, TokenEnv, From string
		Wait                                           time.Duration
		Policy                                         string
		Off                                            bool
	}
	defaults := func(change func(*result)) result {
		r := result{TokenEnv: TokenVariable, Wait: DefaultWait, Policy: PolicyQueue}
		change(&r)
		return r
	}
	tests := map[string]struct {
		args []string
		env  Environment
		file settings.Settings
		want result
	}{
		"nothing": {want: defaults(func(*result) {})},
		"the file alone": {
			file: settings.Settings{Path: path, Coordinator: shared, Wait: &five, Policy: "reject"},
			want: defaults(func(r *result) {
				r.Coordinator, r.CAFile, r.TokenEnv, r.From = "tcp://file:1", "/repo/ca.pem", "CI_WEAVER", path
				r.Wait, r.Policy = five, "reject"
			}),
		},
		"the environment over the file": {
			env:  Environment{"TFWEAVER_COORDINATOR=tcp://env:1", "TFWEAVER_WAIT=1m", "TFWEAVER_POLICY=queue"},
			file: settings.Settings{Path: path, Coordinator: shared, Wait: &five, Policy: "reject"},
			want: defaults(func(r *result) {
				r.Coordinator, r.From, r.Wait = "tcp://env:1", "TFWEAVER_COORDINATOR", time.Minute
			}),
		},
		"the command line over both": {
			args: []string{"-weaver-coordinator=unix:///flag", "-weaver-wait=2m"},
			env:  Environment{"TFWEAVER_COORDINATOR=tcp://env:1", "TFWEAVER_WAIT=1m"},
			file: settings.Settings{Path: path, Coordinator: shared, Wait: &five},
			want: defaults(func(r *result) {
				r.Coordinator, r.From, r.Wait = "unix:///flag", "-weaver-coordinator", 2*time.Minute
			}),
		},
		"the same coordinator, named twice": {
			env:  Environment{"TFWEAVER_COORDINATOR=tcp://file:1"},
			file: settings.Settings{Path: path, Coordinator: shared},
			want: defaults(func(r *result) {
				r.Coordinator, r.CAFile, r.TokenEnv, r.From = "tcp://file:1", "/repo/ca.pem", "CI_WEAVER", "TFWEAVER_COORDINATOR"
			}),
		},
		"how to get in, of the environment": {
			env:  Environment{"TFWEAVER_CA_FILE=/env/ca.pem", "TFWEAVER_TOKEN_FILE=/env/token"},
			file: settings.Settings{Path: path, Coordinator: &settings.Coordinator{Address: "tcp://file:1", CAFile: "/repo/ca.pem", TokenFile: "/repo/token"}},
			want: defaults(func(r *result) {
				r.Coordinator, r.CAFile, r.TokenFile, r.From = "tcp://file:1", "/env/ca.pem", "/env/token", path
			}),
		},
		"this machine alone": {
			env:  Environment{"TFWEAVER_LOCAL=1"},
			file: settings.Settings{Path: path, Coordinator: shared},
			want: defaults(func(*result) {}),
		},
		"not waiting, in the file": {
			file: settings.Settings{Path: path, Wait: &none},
			want: defaults(func(r *result) { r.Wait, r.Policy = 0, PolicyReject }),
		},
		"off": {
			file: settings.Settings{Path: path, Mode: "off"},
			want: defaults(func(r *result) { r.Off = true }),
		},
		"off but for one realm": {
			file: settings.Settings{Path: path, Mode: "off", Realms: []settings.Realm{{Pattern: "a", Mode: "wait"}}},
			want: defaults(func(*result) {}),
		},
		"off in the file, and not here": {
			args: []string{"-weaver-mode=enforce"},
			file: settings.Settings{Path: path, Mode: "off"},
			want: defaults(func(*result) {}),
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inv, err := Parse(append([]string{"apply"}, tt.args...), tt.env)
			if err != nil {
				t.Fatal(err)
			}
			w := &inv.Weaver
			w.Adopt(tt.file)
			got := result{w.Coordinator, w.CAFile, w.TokenFile, w.TokenEnv, w.From["coordinator"], w.Wait, w.Policy, w.Off}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("Adopt (-want +got):\n%s", diff)
			}
		})
	}
}
