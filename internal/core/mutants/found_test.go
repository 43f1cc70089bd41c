// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package mutants

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// finding is what the explorer prints, of any length.
func finding(steps int) string {
	var b strings.Builder
	b.WriteString("I11 FIFO: late\nmade again: there map[], faults 1\n  ask 2 (x of s2)\n\n# made again\n# I11 FIFO: late\n\n")
	for i := range steps {
		fmt.Fprintf(&b, "open s%d policy=queue lease=1ns\nexplore %s\n----\n\n", i, strings.Repeat("x", 300))
	}
	return b.String()
}

// asLogged is a finding as go test prints it behind another line of the test.
func asLogged(text string) string {
	return "=== RUN   TestX\n    x_test.go:1: of no interest\n    x_test.go:54: " +
		strings.Join(strings.Split(text, "\n"), "\n"+indent) + "\n--- FAIL: TestX (0.10s)\n"
}

func TestCounterexampleIsKeptWhole(t *testing.T) {
	t.Parallel()
	want := strings.TrimSpace(finding(100))
	for name, output := range map[string]string{
		"a program's":            finding(100),
		"a test's":               asLogged(finding(100)),
		"a test's, not the last": asLogged(finding(100)) + "    x_test.go:60: also\n",
	} {
		lines, whole := evidence(output)
		if got := strings.Join(lines, "\n"); !whole || got != want {
			t.Errorf("%s: whole %t, %d bytes of %d\n%s", name, whole, len(got), len(want), head(got))
		}
		story, ok := Story(note(Result{Killer: "x.TestX", Failure: lines, Whole: whole}))
		if !ok || !strings.HasPrefix(story, "# made again\n") || strings.Count(story, "\n----\n") != 100 {
			t.Errorf("%s: no story: %t %s", name, ok, head(story))
		}
	}
}

func head(text string) string { return text[:min(len(text), 500)] }

func TestOtherOutputIsShortened(t *testing.T) {
	t.Parallel()
	var long []string
	for i := range 100 {
		long = append(long, fmt.Sprintf("    x_test.go:1: %d", i))
	}
	text := "=== RUN   TestX\n" + strings.Join(long, "\n") + "\n"
	lines, whole := evidence(text)
	if whole || len(lines) != mostLines+1 || lines[0] != long[0] || lines[mostLines] != "... (40 lines more)" {
		t.Errorf("%t %q", whole, lines)
	}
	lines, _ = evidence(text + "panic: no\n\ngoroutine 1\n")
	if want := []string{"... (100 lines before)", "panic: no", "", "goroutine 1"}; !slices.Equal(lines, want) {
		t.Errorf("%q", lines)
	}
	lines, _ = evidence(strings.Repeat("y", mostRunes+7))
	if want := strings.Repeat("y", mostRunes) + "... (7 characters more)"; !slices.Equal(lines, []string{want}) {
		t.Errorf("%q", lines)
	}
	const rapid = `To reproduce, specify -run="TestX" -rapid.failfile="testdata/rapid/TestX/a.fail" (or -rapid.seed=5)`
	lines, _ = evidence(rapid)
	if want := `To reproduce, specify -run="TestX" -rapid.seed=5`; !slices.Equal(lines, []string{want}) {
		t.Errorf("%q", lines)
	}
}

func TestNote(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := Patch{Name: "p"}
	read := func() string {
		text, _ := os.ReadFile(filepath.Join(dir, "p.found"))
		return string(text)
	}
	for _, c := range []struct {
		result Result
		want   string
	}{
		{Result{Patch: p, Outcome: Survived}, ""},
		{Result{Patch: p, Outcome: Killed, Killer: "a.TestA", Failure: []string{"x", "", "y"}}, "a.TestA\n\nx\n\ny\n"},
		{Result{Patch: p, Outcome: Unfit}, "a.TestA\n\nx\n\ny\n"},
		{Result{Patch: p, Outcome: Killed, Killer: "a.TestA", Failure: []string{"z"}, Whole: true}, "a.TestA" + wholeMark + "\n\nz\n"},
		{Result{Patch: p, Outcome: Survived}, ""},
	} {
		if err := Note(dir, []Result{c.result}); err != nil {
			t.Fatal(err)
		}
		if got := read(); got != c.want {
			t.Errorf("%s: %q, want %q", c.result.Outcome, got, c.want)
		}
	}
}
