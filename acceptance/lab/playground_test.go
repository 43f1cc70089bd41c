// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

//go:build unix

package lab

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestPlaygroundIsEnteredByAShell: the exports survive a path that shells take
// apart, terraform is the CLI that was found, and a second Make replaces the first.
func TestPlaygroundIsEnteredByAShell(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "it's a $HOME")
	p := Playground{Dir: filepath.Join(dir, "playground"), Bin: filepath.Join(dir, "bin"), Listen: "127.0.0.1:1", CLI: CLI{Path: filepath.Join(dir, "tofu")}}
	program := "#!/bin/sh\necho \"I am $1 at $3\"\n"
	err := errors.Join(os.MkdirAll(p.Bin, 0o700),
		os.WriteFile(p.CLI.Path, []byte(program), 0o700),
		os.WriteFile(filepath.Join(p.Bin, "simcloud"), []byte(program), 0o700),
		os.WriteFile(filepath.Join(p.Bin, "terraform-provider-simcloud"), []byte("x"), 0o700))
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := p.Make(); err != nil {
			t.Fatal(err)
		}
		cmd := exec.CommandContext(t.Context(), "sh", "-e", "-c", `. "$1"; terraform cli - here; "$2"; simcloud it - there; echo "$TF_CLI_CONFIG_FILE"; echo "$SIMCLOUD_ENDPOINT"`, "sh", p.Env(), p.Cloud())
		out, err := cmd.CombinedOutput()
		want := "I am cli at here\nI am serve at 127.0.0.1:1\nI am it at there\n" + filepath.Join(p.Dir, "cli.tfrc") + "\nhttp://127.0.0.1:1\n"
		if diff := cmp.Diff(want, string(out)); err != nil || diff != "" {
			t.Fatalf("%v; -want +got\n%s", err, diff)
		}
	}
}
