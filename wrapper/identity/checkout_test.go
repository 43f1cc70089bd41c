// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package identity

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/tfweaver/tfweaver/wrapper/arguments"
)

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

const config = `[core]
	url = none
[remote "fork"]
	url = git@git.test:lee/infra.git
[remote "origin"]
	URL = https://bot:s3cret@git.test/acme/infra.git
	fetch = +refs/heads/*:refs/remotes/origin/*
[branch "wider"]
	remote = origin
`

func TestCheckout(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		files              map[string]string
		dir                string
		repository, branch string
	}{
		"none":                   {dir: "x"},
		"a folder inside":        {map[string]string{".git/HEAD": "ref: refs/heads/feature/wider\n", ".git/config": config}, "net/prod", "acme/infra", "feature/wider"},
		"a detached head":        {map[string]string{".git/HEAD": "0123abcd\n", ".git/config": config}, ".", "acme/infra", ""},
		"no remote":              {map[string]string{".git/HEAD": "ref: refs/heads/main\n", ".git/config": "[core]\n"}, ".", "", "main"},
		"another remote":         {map[string]string{".git/HEAD": "ref: refs/heads/main\n", ".git/config": "[remote \"up\"]\nurl = ssh://git@git.test:22/a/b/c\n"}, ".", "a/b/c", "main"},
		"nobody knows which one": {map[string]string{".git/HEAD": "", ".git/config": "[remote \"a\"]\nurl = h:x\n[remote \"b\"]\nurl = h:y\n"}, ".", "", ""},
		"a work tree": {map[string]string{
			"main/.git/config": config, "main/.git/worktrees/tree/HEAD": "ref: refs/heads/wider\n", "main/.git/worktrees/tree/commondir": "../..\n",
			"tree/.git": "gitdir: ../main/.git/worktrees/tree\n",
		}, "tree/net", "acme/infra", "wider"},
		"a damaged file": {map[string]string{"tree/.git": "nonsense"}, "tree", "", ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			top := t.TempDir()
			for path, text := range tt.files {
				write(t, filepath.Join(top, path), text)
			}
			repository, branch := checkout(filepath.Join(top, tt.dir))
			if repository != tt.repository || branch != tt.branch {
				t.Errorf("%q on %q, want %q on %q", repository, branch, tt.repository, tt.branch)
			}
		})
	}
}

func TestRepositoryName(t *testing.T) {
	t.Parallel()
	for remote, want := range map[string]string{
		"":                                     "",
		"https://git.test/acme/infra.git":      "acme/infra",
		"https://x:token@git.test/acme/infra/": "acme/infra",
		"git@git.test:acme/infra.git":          "acme/infra",
		"ssh://git@git.test:2222/g/sub/infra":  "g/sub/infra",
		"/srv/git/infra.git":                   "infra",
		"../infra":                             "infra",
	} {
		if got := repositoryName(remote); got != want {
			t.Errorf("%q: %q, want %q", remote, got, want)
		}
	}
}

// TestTheEnvironmentKnowsBetter: a pipeline's checkout is often detached, and of
// a clone with another name.
func TestTheEnvironmentKnowsBetter(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, filepath.Join(dir, ".git", "HEAD"), "ref: refs/heads/local\n")
	write(t, filepath.Join(dir, ".git", "config"), config)
	system := System{User: "mona", Host: "desk"}
	id := Resolve(nil, system, dir)
	if id.Repository != "acme/infra" || id.Branch != "local" || id.Claimed || id.Purpose() != "branch local" {
		t.Errorf("%+v for %q", id, id.Purpose())
	}
	id = Resolve(arguments.Environment{"GITHUB_ACTIONS=true", "GITHUB_REPOSITORY=o/r"}, system, dir)
	if id.Repository != "o/r" || id.Branch != "local" {
		t.Errorf("%+v", id)
	}
}
