// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package embedded

import (
	"os"
	"path/filepath"
)

func defaultDir() (string, error) {
	local, err := os.UserCacheDir() // %LocalAppData%
	if err != nil {
		return "", err
	}
	return filepath.Join(local, "tfweaver", "state"), nil
}

// tempDir is in the user's own profile.
func tempDir() string { return os.TempDir() }

// userID tells nothing apart there.
func userID() string { return "run" }
