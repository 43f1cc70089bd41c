// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package mutants

import (
	"slices"
	"testing"
)

func TestLoad(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	lay(t, dir, map[string]string{"x.patch": "1", "x.diff": "2", "y.diff": "3", "z.txt": "", "y.found": "", "folder/v.patch": ""})
	list, skipped, err := Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, p := range list {
		names = append(names, p.Name)
	}
	if want := []string{"x.diff", "x.patch", "y"}; !slices.Equal(names, want) {
		t.Errorf("patches %q, want %q", names, want)
	}
	if want := []string{"folder", "z.txt"}; !slices.Equal(skipped, want) {
		t.Errorf("skipped %q, want %q", skipped, want)
	}
	empty := t.TempDir()
	lay(t, empty, map[string]string{"z.txt": ""})
	if _, skipped, err := Load(empty); err == nil || len(skipped) != 1 {
		t.Errorf("a folder without patches: %v, skipped %q", err, skipped)
	}
}
