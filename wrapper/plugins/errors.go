// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package plugins

import (
	"errors"
	"fmt"
	"strings"
)

// The reasons why a provider package cannot be used. They are the Kind of a
// [PackageError] and are matched with errors.Is.
var (
	// ErrNotInstalled: the package is not in the data directory.
	ErrNotInstalled = errors.New("provider is not installed")
	// ErrNoExecutable: the package directory holds no provider executable.
	ErrNoExecutable = errors.New("provider package has no executable")
	// ErrAmbiguous: the package directory holds more than one candidate.
	ErrAmbiguous = errors.New("provider package has more than one executable")
	// ErrNoHashes: the lock file records no checksum at all. Terraform accepts
	// such a package unchecked, so callers warn and go on.
	ErrNoHashes = errors.New("lock file has no checksums for the provider")
	// ErrOnlyZipHashes: the lock file records only checksums of the downloaded
	// archive (zh:), which cannot be compared with an unpacked package.
	ErrOnlyZipHashes = errors.New("lock file has no checksum for the unpacked provider package")
	// ErrChecksum: the package is not the one that the lock file recorded.
	ErrChecksum = errors.New("provider package does not match the lock file")
)

// ErrLockFile is wrapped by every error about the contents of a lock file. A
// lock file that does not exist is reported as fs.ErrNotExist instead.
var ErrLockFile = errors.New("invalid dependency lock file")

// PackageError says which provider package cannot be used, why, and what the
// user can do about it.
type PackageError struct {
	// Kind is one of the Err values of this package.
	Kind error
	// Source and Version name the provider as the lock file does.
	Source, Version string
	// Path is where the package was looked for.
	Path string
	// Expected and Found are h1: checksums, set for ErrChecksum only.
	Expected []string
	Found    string
	// Candidates are the executables of an ambiguous package.
	Candidates []string
	// Remedy is a sentence that says what to do.
	Remedy string
}

// Error names the provider, the reason and the remedy.
func (e *PackageError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s: %v", e.Source, e.Version, e.Kind)
	if e.Path != "" {
		fmt.Fprintf(&b, " (%s)", e.Path)
	}
	if e.Found != "" {
		fmt.Fprintf(&b, ": expected %s, found %s", strings.Join(e.Expected, " or "), e.Found)
	}
	if len(e.Candidates) > 0 {
		fmt.Fprintf(&b, ": %s", strings.Join(e.Candidates, ", "))
	}
	if e.Remedy != "" {
		fmt.Fprintf(&b, "; %s", e.Remedy)
	}
	return b.String()
}

// Unwrap returns the Kind.
func (e *PackageError) Unwrap() error { return e.Kind }
