// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package plugins

import (
	"fmt"
	"slices"
	"strings"

	"golang.org/x/mod/sumdb/dirhash"
)

// Verify compares an installed package with the checksums of its lock entry.
// The h1: scheme is the directory hash of Go modules over the unpacked
// package, so one matching h1: entry is what Terraform asks for.
//
// The content is hashed at every run, as the CLI does when it starts providers
// itself (under reattach it does not). A remembered result would have to be
// believed on the strength of what the file system says of the files, in a place
// that whoever can replace a package can write to as well.
//
// Errors are *PackageError: ErrNoHashes is only a warning (Terraform accepts
// such an entry unchecked); ErrOnlyZipHashes and ErrChecksum mean that the
// package must not be run.
func Verify(pkg Package, entry Entry) error {
	_, err := verify(pkg, entry)
	return err
}

// verify also returns the checksum that matched.
func verify(pkg Package, entry Entry) (string, error) {
	fail := PackageError{Source: entry.Source, Version: entry.Version, Path: pkg.Dir}
	if len(entry.Hashes) == 0 {
		fail.Kind = ErrNoHashes
		fail.Remedy = `run "terraform providers lock" to record them`
		return "", &fail
	}
	expected := unpackedHashes(entry.Hashes)
	if len(expected) == 0 {
		fail.Kind = ErrOnlyZipHashes
		fail.Remedy = `run "terraform init"`
		return "", &fail
	}
	found, err := dirhash.HashDir(pkg.Dir, "", dirhash.Hash1)
	if err != nil {
		return "", fmt.Errorf("hash provider package %s: %w", pkg.Dir, err)
	}
	if slices.Contains(expected, found) {
		return found, nil
	}
	fail.Kind, fail.Expected, fail.Found = ErrChecksum, expected, found
	fail.Remedy = mismatchRemedy(pkg)
	return "", &fail
}

// mismatchRemedy does not decide who is right: a lock file is edited and merged, and
// a package may be another build of the same version. While the entry is there the
// CLI installs no other package for it, with -upgrade neither.
func mismatchRemedy(pkg Package) string {
	return `if the entry in ` + LockFileName + ` is the wrong one, restore that file, as with "git checkout ` + LockFileName +
		`", or take the provider's block out of it and run "terraform init"; if the package is the wrong one, ` + pkg.removal() + ` and run "terraform init"`
}

// unpackedHashes returns the hashes that are made over an unpacked package.
func unpackedHashes(hashes []string) []string {
	var h1 []string
	for _, h := range hashes {
		if strings.HasPrefix(h, "h1:") {
			h1 = append(h1, h)
		}
	}
	return h1
}
