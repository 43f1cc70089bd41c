// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package mutants

import (
	"bytes"
	"os"
	"strings"
	"testing"
)

// TestPatchForms: what the usual programs print goes in.
func TestPatchForms(t *testing.T) {
	t.Parallel()
	copied := tree{t.TempDir(), map[string][]byte{}}
	for f, text := range small {
		copied.files[f] = []byte(text)
	}
	usual := add("+\treturn a * b\n")
	names := func(from, to string) []byte {
		_, hunk, _ := bytes.Cut(usual, []byte("\n@@"))
		return []byte("--- " + from + "\n+++ " + to + "\n@@" + string(hunk))
	}
	const fresh = "new file mode 100644\n--- /dev/null\n+++ internal/core/sum/new.go\n@@ -0,0 +1 @@\n+package sum\n"
	for name, c := range map[string]struct {
		patch []byte
		file  string // that it changes; none if it is not taken
	}{
		"git diff":                {usual, sumFile},
		"git diff --no-prefix":    {names(sumFile, sumFile), sumFile},
		"a new file, no prefix":   {[]byte("diff --git internal/core/sum/new.go internal/core/sum/new.go\n" + fresh), "internal/core/sum/new.go"},
		"mnemonic prefixes":       {names("i/"+sumFile, "w/"+sumFile), sumFile},
		"diff -u with a file":     {names(sumFile+"\t2026-01-01 00:00:00", "new.go\t2026-01-01 00:00:00"), sumFile},
		"diff -u with one of tmp": {names(sumFile+"\t2026-01-01 00:00:00.1 +0000", "/tmp/new.go\t2026-01-01 00:00:00.2 +0000"), sumFile},
		"diff -u with a former":   {names("/tmp/old.go\t2026-01-01 00:00:00.1 +0000", sumFile), sumFile},
		"diff -u with the old":    {names(sumFile+".orig", sumFile), sumFile},
		"diff -ru of two folders": {names("old/"+sumFile, "new/"+sumFile), sumFile},
		"inside a folder":         {names("sum.go", "sum.go"), ""},
		"no patch":                {[]byte("hello\n"), ""},
	} {
		if err := layOut(copied); err != nil {
			t.Fatal(err)
		}
		files, _, err := copied.apply(t.Context(), c.patch)
		if got := strings.Join(files, " "); got != c.file || (err == nil) != (c.file != "") {
			t.Errorf("%s changes %q, want %q: %v", name, got, c.file, err)
		}
		if err == nil {
			continue
		}
		for _, bad := range []string{"hint", "allow", "\n"} {
			if strings.Contains(err.Error(), bad) {
				t.Errorf("%s: %q speaks of %q", name, err, bad)
			}
		}
		if !strings.Contains(err.Error(), accepted) {
			t.Errorf("%s: %q does not say what is accepted", name, err)
		}
	}
}

func TestComplaint(t *testing.T) {
	t.Parallel()
	said := "error: No valid patches in input (allow with \"--allow-empty\")\nhint: use another\nerror: more\n"
	if got := complaint([]byte(said), nil); got != "No valid patches in input; more" {
		t.Error(got)
	}
	if got := complaint([]byte("hint: x\n"), os.ErrInvalid); got != os.ErrInvalid.Error() {
		t.Error(got)
	}
}
