// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package core_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// known are the names that the table of invariants may use.
type known map[string]bool

// TestInvariantsAreTested: each invariant is named in the README with something
// that would notice its loss, and all that is named there exists.
func TestInvariantsAreTested(t *testing.T) {
	t.Parallel()
	names := known{}
	names.tests(t, filepath.Join("..", ".."))
	names.stories(t, "admission/testdata/admission/*", "lock/testdata/*")
	names.files(t, "mutants/*.patch", ".patch")
	names.checks(t, "explore")
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(line, "|")
		if len(cells) != 6 || !strings.HasPrefix(cells[1], " I") {
			continue
		}
		id, _, _ := strings.Cut(strings.TrimSpace(cells[1]), " ")
		seen[id] = true
		if strings.TrimSpace(cells[2]+cells[3]) == "" {
			t.Errorf("nothing tests %s", id)
		}
		for _, m := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(line, -1) {
			if !names[m[1]] {
				t.Errorf("%s is said to be tested by %s, which does not exist", id, m[1])
			}
		}
	}
	for i := range 28 {
		if id := fmt.Sprintf("I%d", i+1); !seen[id] {
			t.Errorf("%s is not in the table", id)
		}
	}
}

// tests adds the test functions of the module.
func (k known) tests(t *testing.T, root string) {
	t.Helper()
	k.parse(t, root, "_test.go", func(n ast.Node) {
		if f, ok := n.(*ast.FuncDecl); ok && strings.HasPrefix(f.Name.Name, "Test") {
			k[f.Name.Name] = true
		}
	})
}

// checks adds the invariants that the explorers judge by: the first argument
// of what makes a violation.
func (k known) checks(t *testing.T, root string) {
	t.Helper()
	k.parse(t, root, ".go", func(n ast.Node) {
		c, ok := n.(*ast.CallExpr)
		if !ok || len(c.Args) == 0 {
			return
		}
		f, _ := c.Fun.(*ast.Ident)
		if x, ok := c.Args[0].(*ast.BasicLit); ok && f != nil && f.Name == "broken" {
			name, err := strconv.Unquote(x.Value)
			k[name] = err == nil
		}
	})
}

// parse visits the source files below root whose names end so.
func (k known) parse(t *testing.T, root, end string, visit func(ast.Node)) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir() && path != root && (e.Name() == "testdata" || strings.HasPrefix(e.Name(), ".")):
			return filepath.SkipDir
		case e.IsDir() || !strings.HasSuffix(path, end):
			return nil
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err == nil {
			ast.Inspect(f, func(n ast.Node) bool { visit(n); return true })
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func (k known) stories(t *testing.T, patterns ...string) {
	t.Helper()
	for _, p := range patterns {
		k.files(t, p, "")
	}
}

// files adds the names of files, without what they end with.
func (k known) files(t *testing.T, pattern, end string) {
	t.Helper()
	list, err := filepath.Glob(pattern)
	if err != nil || len(list) == 0 {
		t.Fatalf("%s: no files, %v", pattern, err)
	}
	for _, f := range list {
		k[strings.TrimSuffix(filepath.Base(f), end)] = true
	}
}
