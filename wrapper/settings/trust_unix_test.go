// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

//go:build !windows

package settings

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// TestAFileOfSomebodyElse: whoever can write to a folder above could otherwise
// send this user's token where they like.
func TestAFileOfSomebodyElse(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		// Only root can give files away; what a file of root's is to a user is
		// the other half of the rule.
		info, err := os.Stat("/")
		if err != nil || !trusted(info, t.TempDir()) {
			t.Errorf("a file of the system's is not trusted: %v", err)
		}
		return
	}
	const other, another = 12345, 12346
	top := t.TempDir()
	path := write(t, filepath.Join(top, FileName), "")
	work := filepath.Join(top, "work")
	if err := errors.Join(os.Mkdir(work, 0o700), os.Chown(path, other, -1)); err != nil {
		t.Fatal(err)
	}
	var foreign *ForeignError
	if got, err := Find(work, ""); !errors.As(err, &foreign) || got != "" {
		t.Errorf("found %q, %v", got, err)
	}
	if got, err := Find(top, ""); err != nil || got != path {
		t.Errorf("in the working folder itself: %q, %v", got, err)
	}
	if err := os.Chown(work, other, -1); err != nil {
		t.Fatal(err)
	}
	if got, err := Find(work, ""); err != nil || got != path {
		t.Errorf("of the owner of the working folder: %q, %v", got, err)
	}
	if err := os.Chown(work, another, -1); err != nil {
		t.Fatal(err)
	}
	if _, err := Find(work, ""); !errors.As(err, &foreign) {
		t.Errorf("of a third user: %v", err)
	}
}
