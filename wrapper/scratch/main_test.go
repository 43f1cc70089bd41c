// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package scratch

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"
)

// ownerEnv makes the test binary the owner of a folder below the folder that it
// names, until it is killed.
const ownerEnv = "SCRATCH_TEST_OWNER"

// owner makes a folder with a secret in it, prints its path, and waits.
func owner(parent string) int {
	f, err := open(parent)
	if err == nil {
		err = os.WriteFile(filepath.Join(f.Path(), "plan"), []byte("secret"), 0o600)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	fmt.Println(f.Path())
	_, _ = io.Copy(io.Discard, os.Stdin)
	return 0
}

// smallEnv makes the test binary one that can write so many bytes to a file only,
// and says what it can make.
const smallEnv = "SCRATCH_TEST_SMALL"

// small makes a folder for files and prints what comes of it.
func small(bytes string) int {
	if err := limitFiles(bytes); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	f, err := ForFiles()
	if err != nil {
		fmt.Println(err)
		return 0
	}
	fmt.Println("made")
	if err := f.Remove(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

func TestMain(m *testing.M) {
	if bytes := os.Getenv(smallEnv); bytes != "" {
		os.Exit(small(bytes))
	}
	if parent := os.Getenv(ownerEnv); parent != "" {
		os.Exit(owner(parent))
	}
	os.Exit(m.Run())
}
