// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package identity

import (
	"slices"
	"strings"
	"testing"

	"github.com/tfweaver/tfweaver/wrapper/arguments"
)

// TestPasswordsStay: what a pipeline puts before the host of an address is told
// to nobody, whatever the address is of.
func TestPasswordsStay(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"https://robot:s3cret@ci.example.com/runs/7": "https://ci.example.com/runs/7",
		"https://s3cret@host/repo.git":               "https://host/repo.git",
		"https://ci.example.com/runs/7?by=a@b":       "https://ci.example.com/runs/7?by=a@b",
		"git@host.example:acme/infra":                "git@host.example:acme/infra",
		"https://robot:s3c%zzret@host/x":             "",
		"":                                           "",
	} {
		if got := discreet(in); got != want {
			t.Errorf("%s: %q, want %q", in, got, want)
		}
	}
	env := arguments.Environment{
		"GITLAB_CI=true", "GITLAB_USER_LOGIN=ann", "CI_JOB_URL=https://bot:s3cret@git.example/jobs/1",
		"CI_MERGE_REQUEST_PROJECT_URL=https://bot:s3cret@git.example/acme", "CI_MERGE_REQUEST_IID=3",
		"CI_PROJECT_URL=https://bot:s3cret@git.example/acme", "CI_REPOSITORY_URL=https://bot:s3cret@git.example/acme.git",
	}
	id := Resolve(env, System{User: "u", Host: "h"}, "")
	told := slices.Concat([]string{id.Actor, id.Host, id.Repository, id.Branch, id.Change, id.Title, id.RunURL}, id.Links)
	for _, text := range told {
		if strings.Contains(text, "s3cret") {
			t.Errorf("%q is told", text)
		}
	}
	if id.RunURL != "https://git.example/jobs/1" || len(id.Links) == 0 {
		t.Errorf("%+v", id)
	}
}
