// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package identity

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tfweaver/tfweaver/wrapper/arguments"
)

func TestResolve(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		env     arguments.Environment
		user    string
		want    Identity
		purpose string
	}{
		"a person": {want: Identity{Actor: "mona", Host: "desk"}},
		"a person who says so": {
			env:  arguments.Environment{"TFWEAVER_ACTOR=night-bot", "TFWEAVER_RUN_URL=https://ci.test/7"},
			want: Identity{Actor: "night-bot", Claimed: true, Host: "desk", RunURL: "https://ci.test/7"},
		},
		"root by sudo": {
			env: arguments.Environment{"SUDO_USER=mona"}, user: "root",
			want: Identity{Actor: "mona", Claimed: true, Host: "desk"},
		},
		"sudo to somebody else than root": {
			env: arguments.Environment{"SUDO_USER=mona"}, user: "deploy",
			want: Identity{Actor: "deploy", Host: "desk"},
		},
		"GitHub Actions": {
			env: arguments.Environment{
				"GITHUB_ACTIONS=true", "GITHUB_ACTOR=lee", "GITHUB_SERVER_URL=https://git.test", "GITHUB_REPOSITORY=o/r",
				"GITHUB_RUN_ID=12", "GITHUB_RUN_ATTEMPT=1", "GITHUB_REF=refs/pull/34/merge", "GITHUB_HEAD_REF=wider", "GITHUB_REF_NAME=34/merge",
				"GITHUB_WORKFLOW=deploy",
			},
			want: Identity{
				Actor: "lee", Claimed: true, Host: "desk", Platform: "github", Repository: "o/r", Branch: "wider", Change: "pull request 34",
				Title: "workflow deploy", RunURL: "https://git.test/o/r/actions/runs/12", Links: []string{"https://git.test/o/r/pull/34"},
			},
			purpose: "pull request 34 of o/r, workflow deploy",
		},
		"a re-run on GitHub by somebody else": {
			env: arguments.Environment{
				"GITHUB_ACTIONS=true", "GITHUB_ACTOR=lee", "GITHUB_TRIGGERING_ACTOR=kim", "GITHUB_SERVER_URL=https://git.test",
				"GITHUB_REPOSITORY=o/r", "GITHUB_RUN_ID=12", "GITHUB_RUN_ATTEMPT=2", "GITHUB_REF=refs/heads/main", "GITHUB_REF_NAME=main",
			},
			want: Identity{
				Actor: "kim", Claimed: true, Host: "desk", Platform: "github", Repository: "o/r", Branch: "main",
				RunURL: "https://git.test/o/r/actions/runs/12/attempts/2",
			},
		},
		"little of GitHub": {
			env:  arguments.Environment{"GITHUB_ACTIONS=true", "GITHUB_ACTOR=lee", "GITHUB_REF=refs/heads/main"},
			want: Identity{Actor: "lee", Claimed: true, Host: "desk", Platform: "github"},
		},
		"GitLab CI": {
			env: arguments.Environment{
				"GITLAB_CI=true", "GITLAB_USER_LOGIN=kim", "CI_JOB_URL=https://lab.test/j/1", "CI_PIPELINE_URL=https://lab.test/p/1",
				"CI_PROJECT_PATH=g/infra", "CI_MERGE_REQUEST_PROJECT_URL=https://lab.test/g/infra", "CI_MERGE_REQUEST_IID=5",
				"CI_MERGE_REQUEST_TITLE=Wider subnets", "CI_MERGE_REQUEST_SOURCE_BRANCH_NAME=wider", "CI_COMMIT_REF_NAME=refs/merge", "CI_JOB_NAME=apply",
			},
			want: Identity{
				Actor: "kim", Claimed: true, Host: "desk", Platform: "gitlab", Repository: "g/infra", Branch: "wider", Change: "merge request 5",
				Title: "Wider subnets", RunURL: "https://lab.test/j/1", Links: []string{"https://lab.test/g/infra/-/merge_requests/5"},
			},
			purpose: "merge request 5 of g/infra, Wider subnets",
		},
		"a pipeline of GitLab's": {
			env: arguments.Environment{"GITLAB_CI=true", "GITLAB_USER_LOGIN=kim", "CI_PIPELINE_URL=https://lab.test/p/1", "CI_COMMIT_REF_NAME=main", "CI_JOB_NAME=nightly"},
			want: Identity{
				Actor: "kim", Claimed: true, Host: "desk", Platform: "gitlab", Branch: "main", Title: "job nightly", RunURL: "https://lab.test/p/1",
			},
			purpose: "job nightly",
		},
		"Jenkins": {
			env: arguments.Environment{
				"JENKINS_URL=https://ci.test/", "BUILD_URL=https://ci.test/job/infra/job/PR-7/3/", "JOB_NAME=infra/PR-7", "CHANGE_ID=7",
				"CHANGE_URL=https://git.test/o/r/pull/7", "CHANGE_TITLE=Wider subnets", "CHANGE_AUTHOR=lee", "CHANGE_BRANCH=wider",
				"BRANCH_NAME=PR-7", "GIT_URL=https://bot:s3cret@git.test/o/r.git",
			},
			want: Identity{
				Actor: "lee", Claimed: true, Host: "desk", Platform: "jenkins", Repository: "o/r", Branch: "wider", Change: "change 7",
				Title: "Wider subnets", RunURL: "https://ci.test/job/infra/job/PR-7/3/", Links: []string{"https://git.test/o/r/pull/7"},
			},
			purpose: "change 7 of o/r, Wider subnets",
		},
		"Jenkins, by whoever started the build": {
			env: arguments.Environment{"BUILD_URL=https://ci.test/job/x/3/", "JOB_NAME=x", "BUILD_USER_ID=kim", "CHANGE_AUTHOR=lee", "GIT_BRANCH=origin/main"},
			want: Identity{
				Actor: "kim", Claimed: true, Host: "desk", Platform: "jenkins", Branch: "main", Title: "job x", RunURL: "https://ci.test/job/x/3/",
			},
			purpose: "job x",
		},
		"Jenkins, which does not say who": {
			env:     arguments.Environment{"JENKINS_URL=https://ci.test/", "JOB_NAME=x"},
			user:    "jenkins",
			want:    Identity{Actor: "jenkins", Host: "desk", Platform: "jenkins", Title: "job x"},
			purpose: "job x",
		},
		"Atlantis": {
			env: arguments.Environment{
				"ATLANTIS_TERRAFORM_VERSION=1.11.4", "USER_NAME=kim", "PULL_AUTHOR=lee", "PULL_NUM=34", "PULL_URL=https://git.test/o/r/pull/34",
				"BASE_REPO_OWNER=o", "BASE_REPO_NAME=r", "HEAD_BRANCH_NAME=wider", "PROJECT_NAME=net",
			},
			user: "atlantis",
			want: Identity{
				Actor: "kim", Claimed: true, Host: "desk", Platform: "atlantis", Repository: "o/r", Branch: "wider", Change: "pull request 34",
				Title: "project net", Links: []string{"https://git.test/o/r/pull/34"},
			},
			purpose: "pull request 34 of o/r, project net",
		},
		"Spacelift": {
			env: arguments.Environment{
				"TF_VAR_spacelift_run_id=01J", "TF_VAR_spacelift_stack_id=net-prod", "TF_VAR_spacelift_account_name=acme",
				"TF_VAR_spacelift_run_trigger=kim", "TF_VAR_spacelift_repository=o/r", "TF_VAR_spacelift_commit_branch=main",
			},
			want: Identity{
				Actor: "kim", Claimed: true, Host: "desk", Platform: "spacelift", Repository: "o/r", Branch: "main", Title: "stack net-prod",
				RunURL: "https://acme.app.spacelift.io/stack/net-prod/run/01J",
			},
			purpose: "stack net-prod",
		},
		"HCP Terraform": {
			env: arguments.Environment{"TFC_RUN_ID=run-1", "TFC_WORKSPACE_NAME=net", "TFC_WORKSPACE_SLUG=acme/net", "TFC_CONFIGURATION_VERSION_GIT_BRANCH=main"},
			want: Identity{
				Actor: "acme/net", Claimed: true, Host: "desk", Platform: "hcp", Branch: "main", Title: "workspace net",
				RunURL: "https://app.terraform.io/app/acme/workspaces/net/runs/run-1",
			},
			purpose: "workspace net",
		},
		"Terraform Enterprise": {
			env: arguments.Environment{"TFC_RUN_ID=run-1", "TFC_WORKSPACE_SLUG=acme/net", "TFC_ADDRESS=https://tfe.test/"},
			want: Identity{
				Actor: "acme/net", Claimed: true, Host: "desk", Platform: "hcp", Title: "workspace net",
				RunURL: "https://tfe.test/app/acme/workspaces/net/runs/run-1",
			},
			purpose: "workspace net",
		},
		"Atlantis inside of Jenkins": {
			env:     arguments.Environment{"JENKINS_URL=https://ci.test", "ATLANTIS_TERRAFORM_VERSION=1.11.4", "PULL_NUM=3", "USER_NAME=kim"},
			want:    Identity{Actor: "kim", Claimed: true, Host: "desk", Platform: "atlantis", Change: "pull request 3"},
			purpose: "pull request 3",
		},
		"variables of a pipeline that is not running": {
			env:  arguments.Environment{"GITHUB_ACTOR=lee", "CI_JOB_URL=https://lab.test/j/1", "PULL_NUM=3", "USER_NAME=kim", "TFC_WORKSPACE_NAME=net"},
			want: Identity{Actor: "mona", Host: "desk"},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			system := System{User: first(tt.user, "mona"), Host: "desk"}
			got := Resolve(tt.env, system, "")
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("Resolve (-want +got):\n%s", diff)
			}
			if purpose := got.Purpose(); purpose != tt.purpose {
				t.Errorf("purpose %q, want %q", purpose, tt.purpose)
			}
		})
	}
}

// TestWhatIsTooLong would otherwise keep a session from being opened.
func TestWhatIsTooLong(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("é", 1000)
	id := Resolve(arguments.Environment{"TFWEAVER_ACTOR=" + long, "TFWEAVER_RUN_URL=https://ci.test/" + long}, System{User: "u", Host: "h"}, "")
	if n := len([]rune(id.Actor)); n != maxText || !strings.HasSuffix(id.Actor, "é…") {
		t.Errorf("an actor of %d characters: %s", n, id.Actor)
	}
	if id.RunURL != "" {
		t.Error("half of a URL leads nowhere")
	}
}

func TestLabels(t *testing.T) {
	t.Parallel()
	id := Identity{Actor: "kim", Claimed: true, Platform: "github", Repository: "o/r", Branch: "wider", Change: "pull request 3"}
	want := map[string]string{"platform": "github", "repository": "o/r", "branch": "wider", "change": "pull request 3", "claimed": "true"}
	if diff := cmp.Diff(want, id.Labels()); diff != "" {
		t.Errorf("Labels (-want +got):\n%s", diff)
	}
	if got := (Identity{Actor: "mona", Host: "desk"}).Labels(); len(got) != 0 {
		t.Errorf("labels %v of somebody that the system knows", got)
	}
}

func TestObjective(t *testing.T) {
	t.Parallel()
	if got, want := Objective("terraform", "apply", "/src/net", "default", ""), "terraform apply in net"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := Objective("tofu", "destroy", "/src/net", "blue", "branch wider"), "tofu destroy in net (blue) for branch wider"; got != want {
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
