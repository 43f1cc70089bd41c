// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package plugins

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// Seal remembers which files were verified, so that it can be told right before
// a start that they are the same ones still. Between the two lies a run of the
// CLI, in which somebody may install another version over the package.
//
// The files are compared by what the file system says of them: the file itself
// (its inode), size, time of the last write, and the time of the last change of
// any of these where there is one, which no program can set. Only when that
// differs is the content hashed again. A Seal is safe for concurrent use.
type Seal struct {
	pkg   Package
	entry Entry
	// Hash is the h1: checksum that was verified; empty when the lock file has
	// none to compare with.
	Hash string

	mu    sync.Mutex
	files map[string]stamp
}

// stamp is what the file system says of one file.
type stamp struct {
	info    fs.FileInfo
	changed time.Time
}

// Check compares an installed package with the checksums of its lock entry, as
// [Verify] does and with the same errors. For ErrNoHashes there is a Seal
// nevertheless.
func Check(pkg Package, entry Entry) (*Seal, error) {
	s := &Seal{pkg: pkg, entry: entry}
	// What changes while the content is read must be seen as changed afterwards.
	files, err := stampsOf(pkg.Dir)
	if err != nil {
		return nil, err
	}
	hash, err := verify(pkg, entry)
	s.Hash, s.files = hash, files
	return s, err
}

// Holds is an error unless the package is the one that was verified, or another
// one that the lock entry allows as well. It is meant for [Command.Check].
func (s *Seal) Holds() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	files, err := stampsOf(s.pkg.Dir)
	if err != nil {
		return err
	}
	if same(files, s.files) {
		return nil
	}
	if s.Hash == "" {
		s.files = files // there never was anything to compare with
		return nil
	}
	if _, err := verify(s.pkg, s.entry); err != nil {
		return fmt.Errorf("the package was changed after it had been checked: %w", err)
	}
	s.files = files
	return nil
}

func same(a, b map[string]stamp) bool {
	if len(a) != len(b) {
		return false
	}
	for path, x := range a {
		y, ok := b[path]
		if !ok || !os.SameFile(x.info, y.info) || x.info.Size() != y.info.Size() || x.info.Mode() != y.info.Mode() ||
			!x.info.ModTime().Equal(y.info.ModTime()) || !x.changed.Equal(y.changed) {
			return false
		}
	}
	return true
}

// stampsOf are the stamps of all files of a package. What a symbolic link leads
// to is what is hashed and run, and so is what is looked at.
func stampsOf(dir string) (map[string]stamp, error) {
	files := map[string]stamp{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := os.Stat(path)
		if err != nil {
			return err
		}
		files[path] = stamp{info: info, changed: changeTime(info)}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("look at provider package %s: %w", dir, err)
	}
	return files, nil
}
