// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package mutants

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestCounterexamplesAreStories: every counterexample of the explorer that is
// kept beside a patch is a whole story, of which package admission understands
// every step. Notes of before they were kept whole do not say that they are.
func TestCounterexamplesAreStories(t *testing.T) {
	t.Parallel()
	stories := map[string]string{}
	notes, err := filepath.Glob("*.found")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range notes {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if story, ok := Story(string(text)); ok {
			stories[strings.TrimSuffix(file, ".found")] = story
		} else if strings.Contains(string(text), wholeMark) {
			t.Errorf("%s has no story", file)
		}
	}
	if len(stories) == 0 {
		t.Fatal("no counterexample is kept whole")
	}
	for name, printed := range told(t, stories) {
		steps := strings.Count(stories[name], "\n----\n")
		if steps == 0 || strings.Count(printed, "\n----\n") != steps || strings.Contains(printed, "bad script") {
			t.Errorf("%s: not a story of %d steps:\n%s", name, steps, printed)
		}
	}
}

// told is what the runner of the stories prints for scripts, in a copy of the
// core.
func told(t *testing.T, stories map[string]string) map[string]string {
	t.Helper()
	files, err := readTree(t.Context(), filepath.Join("..", "..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	const folder = "internal/core/admission/testdata/admission/"
	for f := range files {
		if strings.HasPrefix(f, folder) || !strings.HasPrefix(f, "go.") && !strings.HasPrefix(f, "internal/core/") {
			delete(files, f)
		}
	}
	for name, script := range stories {
		files[folder+name] = []byte(script)
	}
	copied := tree{t.TempDir(), files}
	if err := layOut(copied); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "go", "test", "-vet=off", "-trimpath", "-run", "^TestScripts$", "./internal/core/admission", "-rewrite")
	cmd.Dir, cmd.Env = copied.dir, append(os.Environ(), "GOWORK=off")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	printed := map[string]string{}
	for name := range stories {
		text, err := os.ReadFile(filepath.Join(copied.dir, filepath.FromSlash(folder), name))
		if err != nil {
			t.Fatal(err)
		}
		printed[name] = string(text)
	}
	return printed
}
