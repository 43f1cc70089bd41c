// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package mutants

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path"
	"slices"
	"strings"
)

const (
	module = "github.com/tfweaver/tfweaver"
	core   = module + "/internal/core"
)

// stage is one run of the tests of one package, or of a program whose failure
// is a finding too.
type stage struct {
	pkg     string   // import path
	run     string   // which tests; all if empty
	seed    string   // of the explorer's runs; the usual one if empty
	program []string // with these arguments, if it is a program
}

func (s stage) String() string {
	name := strings.TrimPrefix(strings.TrimPrefix(s.pkg, core+"/"), module+"/")
	if s.run != "" {
		name += " -run " + s.run
	}
	return strings.Join(append([]string{name}, s.program...), " ")
}

// pkg is what go list says of one package, as far as stages depend on it.
type pkg struct {
	ImportPath                         string
	Name                               string
	Deps, TestImports, XTestImports    []string
	GoFiles, TestGoFiles, XTestGoFiles []string
}

// catalog knows the packages of the module.
type catalog map[string]pkg

func listPackages(ctx context.Context, dir string) (catalog, error) {
	cmd := exec.CommandContext(ctx, "go", "list", "-e", "-json=ImportPath,Name,Deps,TestImports,XTestImports,GoFiles,TestGoFiles,XTestGoFiles", "./...")
	cmd.Dir, cmd.Env = dir, environment(1, dir)
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	c := catalog{}
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p pkg
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return c, nil
		} else if err != nil {
			return nil, fmt.Errorf("go list: %w", err)
		}
		c[p.ImportPath] = p
	}
}

// uses tells whether the tests of a package run code of another one.
func (c catalog) uses(user, used string) bool {
	p := c[user]
	if user == used || slices.Contains(p.Deps, used) {
		return true
	}
	return slices.ContainsFunc(slices.Concat(p.TestImports, p.XTestImports), func(i string) bool {
		return i == used || slices.Contains(c[i].Deps, used)
	})
}

func (c catalog) tested(p string) bool {
	return len(c[p].TestGoFiles)+len(c[p].XTestGoFiles) > 0
}

// touched are the packages that files belong to; test data belongs to the
// package above it.
func (c catalog) touched(files []string) []string {
	var list []string
	for _, f := range files {
		for dir := path.Dir(f); ; dir = path.Dir(dir) {
			p := path.Join(module, dir)
			if _, ok := c[p]; ok && !slices.Contains(list, p) {
				list = append(list, p)
			}
			if _, ok := c[p]; ok || dir == "." {
				break
			}
		}
	}
	return list
}

// stages are the tests that may find a patch, the quick ones first: those that
// it names, the recorded stories and counterexamples, the packages that it touches, the
// others of the core that use them, the explorer's tests, the explorer, and the
// shell around the core.
func (c catalog) stages(p Patch, files []string, quick bool) []stage {
	var list []stage
	add := func(s stage) {
		if (c.tested(s.pkg) || len(s.program) > 0) && !slices.ContainsFunc(list, func(o stage) bool { return o.pkg == s.pkg && o.run == s.run }) {
			list = append(list, s)
		}
	}
	if p.Package != "" {
		add(stage{pkg: path.Join(core, p.Package), run: p.Run, seed: p.Seed})
	}
	touched := c.touched(files)
	reaches := func(user string) bool {
		return slices.ContainsFunc(touched, func(t string) bool { return c.uses(user, t) })
	}
	if reaches(core + "/admission") {
		add(stage{pkg: core + "/admission", run: "^TestScripts$"})
	}
	if reaches(core) {
		add(stage{pkg: core, run: "^TestRecordedStories$"})
	}
	for _, t := range touched {
		if t != core+"/mutants" {
			add(stage{pkg: t})
		}
	}
	if quick {
		return list
	}
	all := c.sorted()
	for _, later := range []func(string) bool{
		func(q string) bool { return within(q, core) && !within(q, core+"/explore") },
		func(q string) bool { return within(q, core+"/explore") },
	} {
		for _, q := range all {
			if later(q) && reaches(q) && !within(q, core+"/mutants") {
				add(stage{pkg: q})
			}
		}
	}
	if explorer := core + "/explore/cmd/explore"; c[explorer].Name == "main" && reaches(explorer) {
		add(stage{pkg: explorer, program: []string{"-budget", "short"}})
	}
	for _, q := range all {
		if (within(q, module+"/internal/coordinator") || within(q, module+"/internal/simulation")) && reaches(q) {
			add(stage{pkg: q})
		}
	}
	return list
}

func (c catalog) sorted() []string {
	list := make([]string, 0, len(c))
	for p := range c {
		list = append(list, p)
	}
	slices.Sort(list)
	return list
}

func within(p, folder string) bool { return p == folder || strings.HasPrefix(p, folder+"/") }
