// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package plugins

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/mod/sumdb/dirhash"
)

const (
	testSource  = "registry.example.com/acme/cloud"
	testVersion = "1.2.3"
)

var testPlatform = Platform{OS: "linux", Arch: "amd64"}

// installed puts files into the package folder of the test provider and
// returns the data directory and the folder.
func installed(t *testing.T, files ...string) (dataDir, dir string) {
	t.Helper()
	dataDir = filepath.Join(t.TempDir(), ".terraform")
	dir = filepath.Join(dataDir, "providers", filepath.FromSlash(testSource), testVersion, "linux_amd64")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		writeFile(t, filepath.Join(dir, name), "content of "+name, 0o700)
	}
	return dataDir, dir
}

func testEntry(hashes ...string) Entry {
	return Entry{Source: testSource, Version: testVersion, Hashes: hashes}
}

func TestLocate(t *testing.T) {
	t.Parallel()
	for name, exe := range map[string]string{
		"plain":       "terraform-provider-cloud",
		"versioned":   "terraform-provider-cloud_v1.2.3_x5",
		"windows":     "terraform-provider-cloud.exe",
		"windows too": "terraform-provider-cloud_v1.2.3_x5.exe",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			// Others of similar name are none of it.
			dataDir, dir := installed(t, exe, "LICENSE", "terraform-provider-cloudier", "terraform-provider-cloud-beta_v1")
			if err := os.Mkdir(filepath.Join(dir, "terraform-provider-cloud_dir"), 0o700); err != nil {
				t.Fatal(err)
			}
			pkg, err := Locate(testEntry(), dataDir, testPlatform)
			if err != nil {
				t.Fatal(err)
			}
			if filepath.Base(pkg.Executable) != exe || filepath.Dir(pkg.Executable) != pkg.Dir {
				t.Errorf("executable is %s in %s, want %s", pkg.Executable, pkg.Dir, exe)
			}
		})
	}
}

func TestLocateResolvesLinks(t *testing.T) {
	t.Parallel()
	_, real := installed(t, "terraform-provider-cloud")
	dataDir := filepath.Join(t.TempDir(), ".terraform")
	link := filepath.Join(dataDir, "providers", filepath.FromSlash(testSource), testVersion, "linux_amd64")
	if err := os.MkdirAll(filepath.Dir(link), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(real, link); err != nil {
		t.Fatal(err)
	}
	pkg, err := Locate(testEntry(), dataDir, testPlatform)
	if err != nil {
		t.Fatal(err)
	}
	want, err := filepath.EvalSymlinks(real)
	if err != nil {
		t.Fatal(err)
	}
	if pkg.Dir != want || pkg.Link != link {
		t.Errorf("folder is %s by %s, want %s by %s", pkg.Dir, pkg.Link, want, link)
	}
}

// TestRemedySparesMirrors: a folder is to be removed only where it is in the data
// directory. Of a mirror's it is the link, at whichever level, and the lock file may
// be what is wrong.
func TestRemedySparesMirrors(t *testing.T) {
	t.Parallel()
	for name, levels := range map[string]int{"a folder": 0, "a linked package": 1, "a linked namespace": 4} {
		for _, programs := range [][]string{{"terraform-provider-cloud"}, nil} {
			t.Run(fmt.Sprint(name, len(programs)), func(t *testing.T) {
				t.Parallel()
				dataDir, dir := installed(t, programs...)
				removed := "remove the folder " + resolved(t, dir)
				if levels > 0 {
					link := dir
					for range levels - 1 {
						link = filepath.Dir(link)
					}
					moved := filepath.Join(t.TempDir(), "mirror")
					if err := errors.Join(os.Rename(link, moved), os.Symlink(moved, link)); err != nil {
						t.Fatal(err)
					}
					removed = "remove the link " + link + " (not the folder " + resolved(t, dir) + " "
				}
				pkg, err := Locate(testEntry(), dataDir, testPlatform)
				if len(programs) > 0 {
					err = errors.Join(err, Verify(pkg, testEntry("h1:other=")))
				}
				var pkgErr *PackageError
				if !errors.As(err, &pkgErr) || !strings.Contains(pkgErr.Remedy, removed) {
					t.Fatalf("%v does not say %q", err, removed)
				}
				if errors.Is(err, ErrChecksum) && !strings.Contains(pkgErr.Remedy, "git checkout "+LockFileName) {
					t.Errorf("the lock file is not doubted: %s", pkgErr.Remedy)
				}
			})
		}
	}
}

func resolved(t *testing.T, path string) string {
	t.Helper()
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		t.Fatal(err)
	}
	return real
}

func TestLocateErrors(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		files []string
		entry Entry
		want  error
	}{
		"other version": {[]string{"terraform-provider-cloud"}, Entry{Source: testSource, Version: "9.9.9"}, ErrNotInstalled},
		"empty":         {nil, testEntry(), ErrNoExecutable},
		"two":           {[]string{"terraform-provider-cloud", "terraform-provider-cloud_v1"}, testEntry(), ErrAmbiguous},
		"bad source":    {nil, Entry{Source: "a/../c", Version: "1.0.0"}, ErrLockFile},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dataDir, _ := installed(t, test.files...)
			_, err := Locate(test.entry, dataDir, testPlatform)
			if !errors.Is(err, test.want) {
				t.Fatalf("got error %v, want %v", err, test.want)
			}
			var pkgErr *PackageError
			if errors.As(err, &pkgErr) && !strings.Contains(err.Error(), "terraform init") {
				t.Errorf("no remedy in %q", err)
			}
		})
	}
}

func TestVerify(t *testing.T) {
	t.Parallel()
	dataDir, dir := installed(t, "terraform-provider-cloud", "LICENSE")
	pkg, err := Locate(testEntry(), dataDir, testPlatform)
	if err != nil {
		t.Fatal(err)
	}
	hash, err := dirhash.HashDir(dir, "", dirhash.Hash1)
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		hashes []string
		want   error
	}{
		"match among several": {[]string{"zh:00", "h1:other=", hash}, nil},
		"none":                {nil, ErrNoHashes},
		"archive only":        {[]string{"zh:00", "zh:11"}, ErrOnlyZipHashes},
		"mismatch":            {[]string{"h1:other=", "zh:00"}, ErrChecksum},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if err := Verify(pkg, testEntry(test.hashes...)); !errors.Is(err, test.want) {
				t.Errorf("got error %v, want %v", err, test.want)
			}
		})
	}
}

func TestVerifyFindsTampering(t *testing.T) {
	t.Parallel()
	for name, tamper := range map[string]func(t *testing.T, dir string){
		"changed file": func(t *testing.T, dir string) {
			writeFile(t, filepath.Join(dir, "terraform-provider-cloud"), "evil", 0o700)
		},
		"added file": func(t *testing.T, dir string) {
			writeFile(t, filepath.Join(dir, "preload.so"), "evil", 0o700)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dataDir, dir := installed(t, "terraform-provider-cloud")
			hash, err := dirhash.HashDir(dir, "", dirhash.Hash1)
			if err != nil {
				t.Fatal(err)
			}
			tamper(t, dir)
			pkg, err := Locate(testEntry(), dataDir, testPlatform)
			if err != nil {
				t.Fatal(err)
			}
			err = Verify(pkg, testEntry(hash))
			var pkgErr *PackageError
			if !errors.As(err, &pkgErr) || !errors.Is(err, ErrChecksum) {
				t.Fatalf("got error %v, want ErrChecksum", err)
			}
			if pkgErr.Source != testSource || pkgErr.Expected[0] != hash || !strings.HasPrefix(pkgErr.Found, "h1:") || pkgErr.Remedy == "" {
				t.Errorf("error lacks detail: %+v", pkgErr)
			}
		})
	}
}
