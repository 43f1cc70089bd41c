// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

//go:build unix

package embedded

import (
	"os"
	"os/user"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"
)

// longestTemp leaves room for the name of a socket in a folder of this user.
const longestTemp = 50

func defaultDir() (string, error) {
	home, err := home(userID(), user.LookupId)
	if err != nil {
		return "", err
	}
	return filepath.Join(home, ".local", "state", "tfweaver"), nil
}

// home is where the user with an id lives, whatever the environment of one job
// says, unless nothing can be kept there.
func home(id string, lookup func(id string) (*user.User, error)) (string, error) {
	if u, err := lookup(id); err == nil && habitable(u.HomeDir) {
		return u.HomeDir, nil
	}
	return os.UserHomeDir()
}

// habitable says whether this process may make folders in dir.
func habitable(dir string) bool {
	info, err := os.Stat(dir)
	return err == nil && filepath.IsAbs(dir) && info.IsDir() && unix.Access(dir, unix.W_OK|unix.X_OK) == nil
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
