// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package plugins

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/dirhash"
)

// sealed is the seal of a package with one program, and the program.
func sealed(t *testing.T, recorded bool) (*Seal, string) {
	t.Helper()
	dataDir, dir := installed(t, "terraform-provider-cloud", "LICENSE")
	var hashes []string
	if recorded {
		hash, err := dirhash.HashDir(dir, "", dirhash.Hash1)
		if err != nil {
			t.Fatal(err)
		}
		hashes = []string{"zh:00", hash}
	}
	pkg, err := Locate(testEntry(), dataDir, testPlatform)
	if err != nil {
		t.Fatal(err)
	}
	seal, err := Check(pkg, testEntry(hashes...))
	if recorded && (err != nil || seal.Hash != hashes[1]) || !recorded && !errors.Is(err, ErrNoHashes) {
		t.Fatalf("seal %+v, %v", seal, err)
	}
	return seal, pkg.Executable
}

// TestSealIsBroken: whatever happens to a package between its check and a start
// is noticed, also when size and time of the last write are made to look the same.
func TestSealIsBroken(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(t *testing.T, path string){
		"written in place": func(t *testing.T, path string) { writeFile(t, path, "content of something else", 0o700) },
		"made to look the same": func(t *testing.T, path string) {
			before, err := os.Stat(path)
			if err != nil {
				t.Fatal(err)
			}
			time.Sleep(20 * time.Millisecond) // the clock of a file system is a coarse one
			writeFile(t, path, "CONTENT of terraform-provider-cloud", 0o700)
			if err := os.Chtimes(path, before.ModTime(), before.ModTime()); err != nil {
				t.Fatal(err)
			}
		},
		"replaced": func(t *testing.T, path string) {
			other := writeFile(t, path+".new", "CONTENT of terraform-provider-cloud", 0o700)
			if err := os.Rename(other, path); err != nil {
				t.Fatal(err)
			}
		},
		"added to": func(t *testing.T, path string) {
			writeFile(t, filepath.Join(filepath.Dir(path), "preload.so"), "x", 0o700)
		},
		"taken from": func(t *testing.T, path string) {
			if err := os.Remove(filepath.Join(filepath.Dir(path), "LICENSE")); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			seal, program := sealed(t, true)
			if info, err := os.Stat(program); err != nil || name == "made to look the same" && changeTime(info).IsZero() {
				return // nothing tells it here
			}
			if err := seal.Holds(); err != nil {
				t.Fatalf("an untouched package: %v", err)
			}
			change(t, program)
			if err := seal.Holds(); !errors.Is(err, ErrChecksum) {
				t.Errorf("error %v, want ErrChecksum", err)
			}
			// Nothing is started, not even when it is asked for again.
			if _, err := Launch(t.Context(), Command{Path: program, Check: seal.Holds}); !errors.Is(err, ErrChecksum) {
				t.Errorf("launched: %v", err)
			}
		})
	}
}

// The same content put there again is the package that was verified.
func TestSealHoldsForTheSameContent(t *testing.T) {
	t.Parallel()
	seal, program := sealed(t, true)
	text, err := os.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(program); err != nil {
		t.Fatal(err)
	}
	writeFile(t, program, string(text), 0o700)
	for range 2 {
		if err := seal.Holds(); err != nil {
			t.Error(err)
		}
	}
}

// A package that nothing vouches for may change as it likes, as under the CLI.
func TestSealOfAnUncheckedPackage(t *testing.T) {
	t.Parallel()
	seal, program := sealed(t, false)
	writeFile(t, program, "another", 0o700)
	if err := seal.Holds(); err != nil {
		t.Error(err)
	}
	if err := os.RemoveAll(filepath.Dir(program)); err != nil {
		t.Fatal(err)
	}
	if err := seal.Holds(); err == nil {
		t.Error("a package that is gone is all right")
	}
}
