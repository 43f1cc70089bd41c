// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package plugins

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func writeFile(t *testing.T, path, content string, mode os.FileMode) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), mode); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestReadLockFile(t *testing.T) {
	t.Parallel()
	path := writeFile(t, filepath.Join(t.TempDir(), LockFileName), `
# kept by "terraform init"
provider "registry.example.com/acme/cloud" {
  version     = "1.2.3-beta.1"
  constraints = "~> 1.2, != 1.2.2"
  hashes = [
    "h1:aaa=",
    "zh:bbb",
  ]
}
provider "registry.example.com/acme/bare" {
  version = "0.1.0"
}
future "thing" {}
`, 0o600)
	got, err := ReadLockFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want := Lockfile{Path: path, Entries: []Entry{
		{
			Source: "registry.example.com/acme/cloud", Version: "1.2.3-beta.1",
			Constraints: "~> 1.2, != 1.2.2", Hashes: []string{"h1:aaa=", "zh:bbb"},
		},
		{Source: "registry.example.com/acme/bare", Version: "0.1.0"},
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if _, ok := got.Entry("registry.example.com/acme/bare"); !ok {
		t.Error("entry not found by its source")
	}
	if _, ok := got.Entry("registry.example.com/acme/other"); ok {
		t.Error("found an entry that is not there")
	}
}

func TestReadLockFileRefuses(t *testing.T) {
	t.Parallel()
	for name, src := range map[string]string{
		"syntax":                `provider "a/b/c" {`,
		"no version":            `provider "a/b/c" {}`,
		"version is a path":     `provider "a/b/c" { version = "../../1.0.0" }`,
		"source leaves folder":  `provider "../b/c" { version = "1.0.0" }`,
		"source with two parts": `provider "b/c" { version = "1.0.0" }`,
		"twice": `
provider "a/b/c" { version = "1.0.0" }
provider "a/b/c" { version = "1.0.1" }`,
		"hashes not literal": `provider "a/b/c" {
  version = "1.0.0"
  hashes  = [var.x]
}`,
		"hashes null": `provider "a/b/c" {
  version = "1.0.0"
  hashes  = [null]
}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := writeFile(t, filepath.Join(t.TempDir(), LockFileName), src, 0o600)
			if _, err := ReadLockFile(path); !errors.Is(err, ErrLockFile) {
				t.Errorf("got error %v, want ErrLockFile", err)
			}
		})
	}
}

func TestReadLockFileMissing(t *testing.T) {
	t.Parallel()
	_, err := ReadLockFile(filepath.Join(t.TempDir(), LockFileName))
	if !errors.Is(err, fs.ErrNotExist) || errors.Is(err, ErrLockFile) {
		t.Errorf("got error %v, want fs.ErrNotExist alone", err)
	}
}
