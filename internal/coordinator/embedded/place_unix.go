// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

//go:build unix

package embedded

import (
	"os"
	"path/filepath"
	"strconv"
)

// longestTemp leaves room for the name of a socket in a folder of this user.
const longestTemp = 60

func defaultDir() (string, error) {
	home, err := os.UserHomeDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(home, ".local", "state", "tfweaver"), nil
}

// tempDir is the folder for temporary files, unless its path is too long for
// sockets.
func tempDir() string {
	if dir := os.TempDir(); len(dir) <= longestTemp {
		return dir
	}
	return "/tmp"
}

func userID() string { return strconv.Itoa(os.Geteuid()) }
