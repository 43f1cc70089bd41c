// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package explore

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestScriptsReplay: the script of a finding is a story that package admission
// runs, and it makes the same bad grants there. So it is with any history: under
// the clock of the stories, its script makes the core decide as it did in the
// search.
func TestScriptsReplay(t *testing.T) {
	t.Parallel()
	found := find(t, withHole())
	scripts, grants := map[string]string{"finding": found.Script()}, map[string]int{"finding": 2}
	for _, c := range []*Config{Scenarios()[1], runsOf(0), runsOf(6), runsOf(104)} {
		s := newSearch()
		if _, err := s.explore(c, Limit{Worlds: 3_000}, newCoverage(1), 64); err != nil {
			t.Fatal(err)
		}
		f := &Finding{Config: c, Cause: broken("none", "the busiest world of a search"), History: s.way(busiest(s))}
		r, _ := follow(c, f.History)
		name := strings.ReplaceAll(c.Name, "/", "-")
		scripts[name] = f.Script()
		grants[name] = int(lastToken(c, r.core.nodes[r.at]))
	}
	for name, out := range replayed(t, scripts) {
		if strings.Contains(out, "bad script") {
			t.Errorf("%s:\n%s", name, out)
		}
		if got := granted.FindAllString(out, -1); len(got) < grants[name] || grants[name] == 0 {
			t.Errorf("%s: %d grants, in the search there were %d\n%s", name, len(got), grants[name], out)
		}
	}
}

// busiest is the world of a search with the most grants.
func busiest(s *search) uint32 {
	best, most := 0, uint64(0)
	for i := range s.visits {
		if n := lastToken(s.core.config, s.core.nodes[s.visits[i].at]); n > most {
			best, most = i, n
		}
	}
	return uint32(best)
}

var granted = regexp.MustCompile(`(?m)^(p|t)\d (admitted|passes)`)

// replayed is what the stories' own runner prints for scripts.
func replayed(t *testing.T, scripts map[string]string) map[string]string {
	t.Helper()
	dir := t.TempDir()
	copyTree(t, filepath.Join("..", "..", ".."), dir, "go.mod", "go.sum", "internal/core")
	stories := filepath.Join(dir, "internal", "core", "admission", "testdata", "admission")
	if err := os.RemoveAll(stories); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(stories, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, script := range scripts {
		if err := os.WriteFile(filepath.Join(stories, name), []byte(script), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), "go", "test", "-vet=off", "-trimpath", "-run", "TestScripts", "./internal/core/admission", "-rewrite")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOWORK=off")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	printed := map[string]string{}
	for name := range scripts {
		out, err := os.ReadFile(filepath.Join(stories, name))
		if err != nil {
			t.Fatal(err)
		}
		printed[name] = string(out)
	}
	return printed
}

// copyTree copies files and folders of the module.
func copyTree(t *testing.T, from, to string, names ...string) {
	t.Helper()
	for _, name := range names {
		err := filepath.WalkDir(filepath.Join(from, name), func(path string, e fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if e.IsDir() {
				if slices.Contains([]string{"mutants", "explore"}, e.Name()) {
					return filepath.SkipDir
				}
				return nil
			}
			rel, err := filepath.Rel(from, path)
			if err != nil {
				return err
			}
			data, err := os.ReadFile(path)
			if err == nil {
				err = os.MkdirAll(filepath.Dir(filepath.Join(to, rel)), 0o700)
			}
			if err == nil {
				err = os.WriteFile(filepath.Join(to, rel), data, 0o600)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}
