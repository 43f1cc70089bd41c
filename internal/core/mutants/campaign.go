// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package mutants

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Campaign tries every fault that can be derived from the code of some packages.
type Campaign struct {
	Root     string
	Packages []string      // folders below internal/core whose code is instrumented
	Limit    time.Duration // for one run of one package's tests
	Quick    bool          // only the stories, the scripts, and what a package tests itself in no time
	Every    int           // only one in so many; all if less than 2
	Match    string        // only sites whose description contains this
	Progress func(Site, string)

	tree tree
}

// Run compiles the tests with all faults behind switches, and runs them for one
// fault after the other: the recorded stories, the scripts, the tests of the
// package itself and those of the other packages, until one fails. It returns the
// sites and those that nothing finds.
func (c *Campaign) Run(ctx context.Context) (sites, survivors []Site, err error) {
	scratch, remove, err := scratch()
	if err != nil {
		return nil, nil, err
	}
	defer remove()
	files, err := readTree(ctx, c.Root)
	if err != nil {
		return nil, nil, err
	}
	if sites, err = c.instrument(files); err != nil {
		return nil, nil, err
	}
	c.tree = tree{filepath.Join(scratch, "tree"), files}
	if err := layOut(c.tree); err != nil {
		return nil, nil, err
	}
	tests := []string{"."}
	for _, p := range c.Packages {
		if slices.ContainsFunc(keys(files), func(f string) bool {
			return path.Dir(f) == "internal/core/"+p && strings.HasSuffix(f, "_test.go")
		}) {
			tests = append(tests, p)
		}
	}
	for _, p := range tests {
		if err := c.compile(ctx, p); err != nil {
			return nil, nil, err
		}
		if failed, said := c.fails(ctx, p, "", 0); failed {
			return nil, nil, fmt.Errorf("%s fails without a fault: %s", p, said)
		}
	}
	for _, s := range sites {
		if !strings.Contains(s.String(), c.Match) || s.Number%max(1, c.Every) != 0 {
			continue
		}
		killer := c.try(ctx, s, tests)
		if ctx.Err() != nil {
			return sites, survivors, ctx.Err()
		}
		if killer == "" {
			survivors = append(survivors, s)
		}
		c.Progress(s, killer)
	}
	return sites, survivors, nil
}

func keys(files map[string][]byte) []string {
	list := make([]string, 0, len(files))
	for f := range files {
		list = append(list, f)
	}
	slices.Sort(list)
	return list
}

// instrument changes the files in place.
func (c *Campaign) instrument(files map[string][]byte) ([]Site, error) {
	var sites []Site
	for _, f := range keys(files) {
		folder := strings.TrimPrefix(path.Dir(f), "internal/core/")
		if !slices.Contains(c.Packages, folder) || path.Ext(f) != ".go" || strings.HasSuffix(f, "_test.go") {
			continue
		}
		src, more, err := Instrument(f, files[f], len(sites))
		if err != nil {
			return nil, err
		}
		files[f], sites = src, append(sites, more...)
		files[path.Join(path.Dir(f), "seeded_fault.go")] = fmt.Appendf(nil, faultSource, path.Base(folder))
	}
	return sites, nil
}

func (c *Campaign) compile(ctx context.Context, p string) error {
	cmd := exec.CommandContext(ctx, "go", "test", "-c", "-vet=off", "-trimpath", "-o", "tests.exe", ".")
	cmd.Dir, cmd.Env = c.dir(p), environment(1, c.tree.dir)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("compile %s: %w\n%s", p, err, out)
	}
	return nil
}

func (c *Campaign) dir(p string) string {
	return filepath.Join(c.tree.dir, "internal", "core", filepath.FromSlash(p))
}

// try is the first test that finds a fault, empty if none does.
func (c *Campaign) try(ctx context.Context, s Site, tests []string) string {
	own := strings.TrimPrefix(path.Dir(s.File), "internal/core/")
	order := [][2]string{{".", "^TestRecordedStories$"}, {"admission", "^TestScripts$"}, {own, ""}}
	for _, p := range tests {
		if p != own && !c.Quick {
			order = append(order, [2]string{p, ""})
		}
	}
	for _, o := range order {
		if !slices.Contains(tests, o[0]) {
			continue
		}
		if failed, said := c.fails(ctx, o[0], o[1], s.Number); failed {
			return said
		}
	}
	return ""
}

// fails runs the tests of a package with a fault.
func (c *Campaign) fails(ctx context.Context, p, run string, fault int) (bool, string) {
	ctx, cancel := context.WithTimeout(ctx, c.Limit)
	defer cancel()
	args := []string{"-test.v", "-test.failfast", "-test.short"}
	if run != "" {
		args = append(args, "-test.run", run)
	}
	if c.Quick {
		args = append(args, "-test.skip", "^TestLargeGraphs$|^TestRandomHistories$")
	}
	cmd := exec.CommandContext(ctx, filepath.Join(c.dir(p), "tests.exe"), args...)
	cmd.Dir, cmd.Env = c.dir(p), append(environment(1, c.tree.dir), fmt.Sprintf("%s=%d", FaultEnv, fault))
	cmd.WaitDelay = time.Second
	alone(cmd)
	out, err := cmd.StdoutPipe()
	if err != nil {
		return true, p + ": " + err.Error()
	}
	end, err := begin(cmd)
	if err != nil {
		return true, p + ": " + err.Error()
	}
	defer end()
	failed := ""
	for lines := bufio.NewScanner(out); failed == "" && lines.Scan(); {
		if name, ok := strings.CutPrefix(strings.TrimSpace(lines.Text()), "--- FAIL: "); ok {
			failed = p + ": " + strings.Fields(name)[0]
			cancel() // what else there is to find is of no interest
		}
	}
	_, _ = io.Copy(io.Discard, out)
	late := errors.Is(ctx.Err(), context.DeadlineExceeded)
	switch err := cmd.Wait(); {
	case failed != "":
		return true, failed
	case late:
		return true, p + ": no end"
	case err != nil:
		return true, p + ": the test dies"
	}
	return false, ""
}
