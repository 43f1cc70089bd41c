// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package mutants

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// small is a repository of two packages, one of which is used by the other.
var small = map[string]string{
	"go.mod":                           "module github.com/tfweaver/tfweaver\n\ngo 1.25\n",
	"internal/core/sum/sum.go":         "package sum\n\n// Add adds.\nfunc Add(a, b int) int {\n\treturn a + b\n}\n\n// Sub subtracts.\nfunc Sub(a, b int) int {\n\treturn a - b\n}\n",
	"internal/core/sum/t_test.go":      "package sum\n\nimport \"testing\"\n\nfunc TestAdd(t *testing.T) {\n\tif got := Add(1, 2); got != 3 {\n\t\tt.Errorf(\"1 + 2 = %d\", got)\n\t}\n}\n",
	"internal/core/user/user.go":       "package user\n\nimport \"github.com/tfweaver/tfweaver/internal/core/sum\"\n\n// Less is one less.\nfunc Less(a int) int { return sum.Sub(a, 1) }\n",
	"internal/core/user/t_test.go":     "package user\n\nimport (\n\t\"os\"\n\t\"testing\"\n)\n\nfunc TestLess(t *testing.T) {\n\tif Less(2) != 1 {\n\t\tt.Error(\"wrong\")\n\t}\n}\n\nfunc TestData(t *testing.T) {\n\tif b, _ := os.ReadFile(\"testdata/word\"); string(b) != \"yes\\n\" {\n\t\tt.Errorf(\"%q\", b)\n\t}\n}\n",
	"internal/core/user/testdata/word": "yes\n",
}

// change is a patch that replaces a line.
func change(file, context, from, to string) []byte {
	return fmt.Appendf(nil, "--- a/%[1]s\n+++ b/%[1]s\n@@ -%[2]s @@\n%[3]s", file, context, from+to)
}

// lay writes files below a folder.
func lay(t *testing.T, root string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

const sumFile = "internal/core/sum/sum.go"

// add is a patch that has Add do something else.
func add(to string) []byte {
	return change(sumFile, "4,3 +4,3", " func Add(a, b int) int {\n-\treturn a + b\n", to+" }\n")
}

func TestRunner(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	lay(t, root, small)
	for name, c := range map[string]struct {
		patch  string
		want   Outcome
		killer string
	}{
		"own test":      {string(add("+\treturn a * b\n")), Killed, "sum.TestAdd"},
		"user's test":   {string(change(sumFile, "9,3 +9,3", " func Sub(a, b int) int {\n-\treturn a - b\n", "+\treturn a + b\n }\n")), Killed, "user.TestLess"},
		"test data":     {string(change("internal/core/user/testdata/word", "1 +1", "-yes\n", "+no\n")), Killed, "user.TestData"},
		"panic":         {string(add("+\tpanic(a + b)\n")), Killed, "sum.TestAdd"},
		"memory":        {string(add("+\treturn len(make([]int, 1<<40)) + a + b\n")), Killed, "sum"},
		"no end":        {string(add("+\tfor ; ; a += b {}\n")), TimedOut, "sum"},
		"no difference": {string(add("+\treturn b + a\n")), Survived, ""},
		"no code":       {string(add("+\treturn a +\n")), Unfit, ""},
		"no place":      {string(change("internal/core/sum/gone.go", "1 +1", "-a\n", "+b\n")), Unfit, ""},
		"head that finds nothing": {"Mutant: x\nPackage: sum\nRun: TestAdd\n\n" +
			string(change(sumFile, "9,3 +9,3", " func Sub(a, b int) int {\n-\treturn a - b\n", "+\treturn a + b\n }\n")), Killed, "user.TestLess"},
		"new package": {"diff --git a/internal/core/fresh/t_test.go b/internal/core/fresh/t_test.go\nnew file mode 100644\n--- /dev/null\n+++ b/internal/core/fresh/t_test.go\n" +
			"@@ -0,0 +1,5 @@\n+package fresh\n+\n+import \"testing\"\n+\n+func TestFresh(t *testing.T) { t.Error(\"no\") }\n", Killed, "fresh.TestFresh"},
	} {
		t.Run(name, func(t *testing.T) {
			r := Runner{Root: root}
			if c.want == TimedOut {
				r.Limit = 10 * time.Second
			}
			results, err := r.Run(t.Context(), []Patch{Parse("p", []byte(c.patch))})
			if err != nil {
				t.Fatal(err)
			}
			if got := results[0]; got.Outcome != c.want || got.Killer != c.killer || got.Outcome.Dead() == (len(got.Failure) == 0) {
				t.Errorf("%+v", got)
			}
		})
	}
}
