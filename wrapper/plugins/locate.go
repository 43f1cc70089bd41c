// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package plugins

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// Platform is an operating system and an architecture in Go's terms.
type Platform struct{ OS, Arch string }

// Current returns the platform that this program runs on.
func Current() Platform { return Platform{OS: runtime.GOOS, Arch: runtime.GOARCH} }

// String returns the OS_ARCH form of the provider cache's folder names.
func (p Platform) String() string { return p.OS + "_" + p.Arch }

// Package is an installed provider package.
type Package struct {
	// Source and Version name the provider as the lock file does.
	Source, Version string
	// Dir is the package folder with all symbolic links resolved, so that
	// what is verified is what is run.
	Dir string
	// Executable is the path of the provider program in Dir.
	Executable string
	// Link is the symbolic link below the data directory that leads to Dir, which
	// is a mirror's or a cache's then, and others use it; empty where Dir is in the
	// data directory itself.
	Link string
}

// removal says how to make room for the package that "terraform init" installs.
// What a link leads to is not to be removed: a mirror is where it would come from.
func (p Package) removal() string {
	if p.Link == "" {
		return "remove the folder " + p.Dir
	}
	return "remove the link " + p.Link + " (not the folder " + p.Dir + " that it leads to, which is a mirror's or a cache's)"
}

// Locate finds the package that "terraform init" installed for a lock entry
// under dataDir (TF_DATA_DIR, by default .terraform). Errors are
// *PackageError.
func Locate(entry Entry, dataDir string, platform Platform) (Package, error) {
	parts, err := sourceParts(entry.Source)
	if err != nil {
		return Package{}, fmt.Errorf("%w: %w", ErrLockFile, err)
	}
	below := []string{"providers", parts[0], parts[1], parts[2], entry.Version, platform.String()}
	place := filepath.Join(dataDir, filepath.Join(below...))
	dir, err := resolve(place)
	if err != nil {
		return Package{}, notInstalled(entry, place, err)
	}
	pkg := Package{Source: entry.Source, Version: entry.Version, Dir: dir, Link: linkOf(dataDir, below)}
	pkg.Executable, err = executable(pkg, parts[2])
	return pkg, err
}

// linkOf is the first symbolic link on the way from a folder to another one below
// it; empty when there is none.
func linkOf(dir string, below []string) string {
	for _, name := range below {
		dir = filepath.Join(dir, name)
		if info, err := os.Lstat(dir); err == nil && info.Mode()&(fs.ModeSymlink|fs.ModeIrregular) != 0 { // or a junction of Windows
			return dir
		}
	}
	return ""
}

// resolve returns the absolute path of a folder without symbolic links: the
// provider cache may link into a mirror or a shared plugin cache.
func resolve(path string) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	dir, err := filepath.EvalSymlinks(abs)
	if err != nil {
		return "", err
	}
	info, err := os.Stat(dir)
	if err != nil {
		return "", err
	}
	if !info.IsDir() {
		return "", fmt.Errorf("%s is not a folder", dir)
	}
	return dir, nil
}

func notInstalled(entry Entry, path string, cause error) error {
	kind := ErrNotInstalled
	if !errors.Is(cause, fs.ErrNotExist) {
		kind = fmt.Errorf("%w: %w", ErrNotInstalled, cause)
	}
	return &PackageError{
		Kind: kind, Source: entry.Source, Version: entry.Version, Path: path,
		Remedy: `run "terraform init"`,
	}
}

func executable(pkg Package, providerType string) (string, error) {
	files, err := os.ReadDir(pkg.Dir)
	if err != nil {
		return "", notInstalled(Entry{Source: pkg.Source, Version: pkg.Version}, pkg.Dir, err)
	}
	var found []string
	for _, f := range files {
		path := filepath.Join(pkg.Dir, f.Name())
		if isProviderName(f.Name(), providerType) && isFile(path) {
			found = append(found, path)
		}
	}
	fail := PackageError{
		Source: pkg.Source, Version: pkg.Version, Path: pkg.Dir,
		Remedy: pkg.removal() + ` and run "terraform init"`,
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		fail.Kind = ErrNoExecutable
	default:
		fail.Kind, fail.Candidates = ErrAmbiguous, found
	}
	return "", &fail
}

// isProviderName accepts terraform-provider-TYPE, with an optional _SUFFIX
// (usually _vVERSION) and an optional .exe. The type must end there: the
// program of "awscc" is none of "aws".
func isProviderName(name, providerType string) bool {
	rest, ok := strings.CutPrefix(name, "terraform-provider-"+providerType)
	if !ok {
		return false
	}
	rest = strings.TrimSuffix(rest, ".exe")
	return rest == "" || strings.HasPrefix(rest, "_")
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}
