// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package bboltjournal

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"testing"
)

// TestStorageErrorsNameTheRemedy: also where bbolt has made a text of what the
// system says.
func TestStorageErrorsNameTheRemedy(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		err    error
		is     error
		remedy string
	}{
		"full":           {&fs.PathError{Op: "write", Path: "/s/journal.db", Err: syscall.ENOSPC}, syscall.ENOSPC, "free some space"},
		"full, bare":     {syscall.ENOSPC, syscall.ENOSPC, "free some space"},
		"full, as text":  {fmt.Errorf("file resize error: %s", &fs.PathError{Op: "truncate", Path: "/s/journal.db", Err: syscall.ENOSPC}), syscall.ENOSPC, "free some space"}, //nolint:errorlint // as bbolt does
		"read-only":      {&fs.PathError{Op: "open", Path: "/s/journal.db", Err: syscall.EROFS}, syscall.EROFS, "make that file system writable"},
		"denied":         {&fs.PathError{Op: "open", Path: "/s/journal.db", Err: syscall.EACCES}, fs.ErrPermission, "must be yours"},
		"renaming fails": {&os.LinkError{Op: "rename", Old: "a", New: "b", Err: syscall.EIO}, syscall.EIO, "check that disk"},
		"broken":         {syscall.EIO, syscall.EIO, "check that disk"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := storageError("/s/journal.db", c.err)
			var storage *StorageError
			if !errors.As(err, &storage) || !errors.Is(err, c.is) || !strings.Contains(err.Error(), c.remedy) {
				t.Errorf("%v; want the remedy %q", err, c.remedy)
			}
			if strings.Count(err.Error(), "/s/journal.db") != 1 {
				t.Errorf("%v; want the file once", err)
			}
		})
	}
	if err := storageError("/s/journal.db", nil); err != nil {
		t.Error(err)
	}
}
