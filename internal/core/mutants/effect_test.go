// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package mutants

import (
	"strings"
	"testing"
)

// TestSame: what is built the same is told from what is not.
func TestSame(t *testing.T) {
	t.Parallel()
	const src = "package p\n\n// F is.\nfunc F(a, b int) int { return a + b }\n"
	for name, c := range map[string]struct {
		file, before, after string
		want                bool
	}{
		"a comment":            {"internal/core/p/p.go", src, strings.ReplaceAll(src, "F is", "F adds"), true},
		"a comment behind":     {"internal/core/p/p.go", src, src + "/* x */", true},
		"lines":                {"internal/core/p/p.go", src, strings.ReplaceAll(strings.ReplaceAll(src, "{ ", "{\n"), " }", "\n}"), true},
		"a list in lines":      {"internal/core/p/p.go", src, strings.ReplaceAll(src, "(a, b int)", "(\n\ta, b int,\n)"), true},
		"an operator":          {"internal/core/p/p.go", src, strings.ReplaceAll(src, "+", "-"), false},
		"a name":               {"internal/core/p/p.go", src, strings.ReplaceAll(src, "a + b", "b + a"), false},
		"a directive":          {"internal/core/p/p.go", src, strings.ReplaceAll(src, "// F is", "//go:noinline"), false},
		"a text":               {"internal/core/p/p.go", src + "var s = `a`\n", src + "var s = `a `\n", false},
		"no file any more":     {"internal/core/p/p.go", src, "", false},
		"a new one":            {"internal/core/p/p.go", "", src, false},
		"a new one of no code": {"internal/core/p/p.go", "", "// Package p is.\npackage p\n", true},
		"another system's":     {"internal/core/p/p_plan9.go", src, strings.ReplaceAll(src, "+", "-"), true},
		"not built":            {"internal/core/p/p.go", "//go:build never\n\n" + src, "//go:build never\n\n" + src + "var x int\n", true},
		"built no more":        {"internal/core/p/p.go", src, "//go:build never\n\n" + src, false},
		"documentation":        {"internal/core/p/README.md", "a", "b", true},
		"test data":            {"internal/core/p/testdata/a.md", "a", "b", false},
		"source as test data":  {"internal/core/p/testdata/a.go", src, src + "// x\n", false},
		"another file":         {"internal/core/p/rules.json", "a", "b", false},
		"what an example prints": {
			"internal/core/p/p_test.go",
			"package p\n\nfunc ExampleF() {\n\tF()\n\t// Output: 1\n}\n", "package p\n\nfunc ExampleF() {\n\tF()\n\t// Output: 2\n}\n", false,
		},
	} {
		bytesOf := func(s string) []byte {
			if s == "" {
				return nil
			}
			return []byte(s)
		}
		if got := same(c.file, bytesOf(c.before), bytesOf(c.after)); got != c.want {
			t.Errorf("%s: %t\n%q\n%q", name, got, code(c.file, bytesOf(c.before)), code(c.file, bytesOf(c.after)))
		}
	}
}

// TestUnfit: what no test can find is not said to have survived.
func TestUnfit(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	files := map[string]string{"README.md": "a\n", "wrapper/w.go": "package wrapper\n\n// W is.\nvar W = 1\n"}
	for f, text := range small {
		files[f] = text
	}
	lay(t, root, files)
	const fresh = "--- /dev/null\n+++ b/%s\n@@ -0,0 +1 @@\n+package x\n"
	for name, c := range map[string]struct{ patch, want string }{
		"empty":             {" \n", "it is empty"},
		"a README":          {string(change("README.md", "1 +1", "-a\n", "+b\n")), "it changes nothing below internal/core"},
		"code elsewhere":    {string(change("wrapper/w.go", "4 +4", "-var W = 1\n", "+var W = 2\n")), "it changes nothing below internal/core"},
		"a file elsewhere":  {strings.ReplaceAll(fresh, "%s", "wrapper/x.go"), "it changes nothing below internal/core"},
		"what seeds faults": {strings.ReplaceAll(fresh, "%s", "internal/core/mutants/x.go"), "it changes nothing below internal/core but what seeds faults"},
		"a comment":         {string(change(sumFile, "3 +3", "-// Add adds.\n", "+// Add adds up.\n")), "it changes no code"},
		"documentation":     {strings.ReplaceAll(fresh, "%s", "internal/core/sum/README.md"), "it changes no code"},
	} {
		results, err := (&Runner{Root: root}).Run(t.Context(), []Patch{Parse("p", []byte(c.patch))})
		if err != nil {
			t.Fatal(err)
		}
		if got := results[0]; got.Outcome != Unfit || got.Note != c.want {
			t.Errorf("%s: %s: %s", name, got.Outcome, got.Note)
		}
	}
}
