// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package embedded

import (
	"os"

	"github.com/tfweaver/tfweaver/internal/coordinator/server"
)

// mayWrite says why there can be no files in a folder. Whether this user may make
// them is not known without making one.
func mayWrite(dir string) error {
	info, err := os.Stat(dir)
	if err == nil && !info.IsDir() {
		err = &server.FolderError{Dir: dir, Reason: "is not a folder"}
	}
	return err
}
