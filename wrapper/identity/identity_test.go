// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package identity

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tfweaver/tfweaver/wrapper/arguments"
)

func TestResolve(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		env  arguments.Environment
		want Identity
	}{
		"a person": {want: Identity{Actor: "mona", Host: "desk"}},
		"a person who says so": {
			env:  arguments.Environment{"TFWEAVER_ACTOR=night-bot", "TFWEAVER_RUN_URL=https://ci.test/7"},
			want: Identity{Actor: "night-bot", Host: "desk", RunURL: "https://ci.test/7"},
		},
		"GitHub Actions": {
			env: arguments.Environment{
				"GITHUB_ACTIONS=true", "GITHUB_ACTOR=lee", "GITHUB_SERVER_URL=https://git.test", "GITHUB_REPOSITORY=o/r",
				"GITHUB_RUN_ID=12", "GITHUB_REF=refs/pull/34/merge",
			},
			want: Identity{
				Actor: "lee", Host: "desk", RunURL: "https://git.test/o/r/actions/runs/12",
				Links: []string{"https://git.test/o/r/pull/34"},
			},
		},
		"a push on GitHub": {
			env:  arguments.Environment{"GITHUB_ACTIONS=true", "GITHUB_ACTOR=lee", "GITHUB_REF=refs/heads/main"},
			want: Identity{Actor: "lee", Host: "desk"},
		},
		"GitLab CI": {
			env: arguments.Environment{
				"GITLAB_CI=true", "GITLAB_USER_LOGIN=kim", "CI_JOB_URL=https://lab.test/j/1", "CI_PIPELINE_URL=https://lab.test/p/1",
				"CI_MERGE_REQUEST_PROJECT_URL=https://lab.test/g", "CI_MERGE_REQUEST_IID=5",
			},
			want: Identity{
				Actor: "kim", Host: "desk", RunURL: "https://lab.test/j/1",
				Links: []string{"https://lab.test/g/-/merge_requests/5"},
			},
		},
		"variables of a pipeline that is not running": {
			env:  arguments.Environment{"GITHUB_ACTOR=lee", "CI_JOB_URL=https://lab.test/j/1"},
			want: Identity{Actor: "mona", Host: "desk"},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, Resolve(tt.env, System{User: "mona", Host: "desk"})); diff != "" {
				t.Errorf("Resolve (-want +got):\n%s", diff)
			}
		})
	}
}

func TestObjective(t *testing.T) {
	t.Parallel()
	if got, want := Objective("terraform", "apply", "/src/net", "default"), "terraform apply in net"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := Objective("tofu", "destroy", "/src/net", "blue"), "tofu destroy in net (blue)"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestTool(t *testing.T) {
	t.Parallel()
	if got, want := Tool("0.1.0", "terraform", "1.11.4"), "tfweaver 0.1.0 (terraform 1.11.4)"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := Tool("0.1.0", "tofu", ""), "tfweaver 0.1.0 (tofu)"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
