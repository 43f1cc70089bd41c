// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package tfweaver

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// core is the folder of the state machine that docs/protocol/Weaver.tla
// specifies.
const core = "internal/core/admission"

// TestSpecificationIsInStep: the TLA+ specification has an action for every
// command of the machine, the decisions that it names exist, and a transaction
// is in the same states in both.
func TestSpecificationIsInStep(t *testing.T) {
	t.Parallel()
	spec := read(t, "docs/protocol/Weaver.tla")
	if got, want := named(spec, `command: ([A-Za-z, ]+)`), receivers(t, "command"); !slices.Equal(got, want) {
		t.Errorf("commands of the specification: %v\nof the machine: %v", got, want)
	}
	events := receivers(t, "event")
	for _, d := range named(spec, `decision: ([A-Za-z, ]+)`) {
		if !slices.Contains(events, d) {
			t.Errorf("the machine has no decision %s", d)
		}
	}
	_, set, _ := strings.Cut(spec, "Status == {")
	set, _, ok := strings.Cut(set, "}")
	if !ok {
		t.Fatal("the specification defines no Status")
	}
	got := regexp.MustCompile(`[a-z]+`).FindAllString(set, -1)
	slices.Sort(got)
	want := append(statuses(t), "unsent")
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("states of the specification: %v\nof the machine: %v", got, want)
	}
}

func read(t *testing.T, file string) string {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// named are the names in lists that follow a word, sorted and once each.
func named(text, pattern string) []string {
	found := map[string]bool{}
	for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(text, -1) {
		list, _, _ := strings.Cut(m[1], ".")
		for name := range strings.SplitSeq(list, ",") {
			if name = strings.TrimSpace(name); name != "" {
				found[name] = true
			}
		}
	}
	delete(found, "X") // the placeholder of the explanation
	return slices.Sorted(maps.Keys(found))
}

// receivers are the exported types of the machine that have a method, sorted.
// Others are forms of them on the wire.
func receivers(t *testing.T, method string) []string {
	t.Helper()
	var list []string
	inspect(t, func(n ast.Node) {
		f, ok := n.(*ast.FuncDecl)
		if !ok || f.Recv == nil || f.Name.Name != method {
			return
		}
		if id, ok := f.Recv.List[0].Type.(*ast.Ident); ok && id.IsExported() {
			list = append(list, id.Name)
		}
	})
	slices.Sort(list)
	return list
}

// statuses are the values of the constants of type Status.
func statuses(t *testing.T) []string {
	t.Helper()
	var list []string
	inspect(t, func(n ast.Node) {
		v, ok := n.(*ast.ValueSpec)
		if !ok {
			return
		}
		if id, ok := v.Type.(*ast.Ident); !ok || id.Name != "Status" || len(v.Values) != 1 {
			return
		}
		if lit, ok := v.Values[0].(*ast.BasicLit); ok {
			s, err := strconv.Unquote(lit.Value)
			if err != nil {
				t.Fatal(err)
			}
			list = append(list, s)
		}
	})
	return list
}

func inspect(t *testing.T, see func(ast.Node)) {
	t.Helper()
	files, err := filepath.Glob(core + "/*.go")
	if err != nil || len(files) == 0 {
		t.Fatalf("no files in %s: %v", core, err)
	}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(f, func(n ast.Node) bool { see(n); return true })
	}
}
