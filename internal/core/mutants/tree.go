// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package mutants

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// tree is a copy of the repository in which faults are seeded. The files of the
// repository itself are never touched, and what others change there while we
// work is not seen.
type tree struct {
	dir   string
	files map[string][]byte // what belongs in it, by path with slashes
}

// readTree reads the sources of a repository: what git knows or would add, or
// everything but what is built, where it is not a checkout.
func readTree(ctx context.Context, root string) (map[string][]byte, error) {
	cmd := exec.CommandContext(ctx, "git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	cmd.Dir = root
	out, err := cmd.Output()
	var paths []string
	if err == nil {
		paths = strings.Split(strings.TrimRight(string(out), "\x00"), "\x00")
	} else if paths, err = walk(root, ".git", "build", "bin", "dist"); err != nil {
		return nil, err
	}
	files := map[string][]byte{}
	for _, p := range paths {
		path := filepath.Join(root, filepath.FromSlash(p))
		info, err := os.Lstat(path)
		if errors.Is(err, fs.ErrNotExist) || err == nil && !info.Mode().IsRegular() {
			continue // removed in this checkout, or a link that no test needs
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return nil, fmt.Errorf("copy the repository: %w", err)
		}
		files[p] = data
	}
	return files, nil
}

// walk lists the files below a folder but for those in the folders named.
func walk(root string, without ...string) ([]string, error) {
	var paths []string
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(root, path)
		switch {
		case err != nil:
			return err
		case e.IsDir() && slices.Contains(without, rel):
			return filepath.SkipDir
		case !e.IsDir():
			paths = append(paths, filepath.ToSlash(rel))
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("list %s: %w", root, err)
	}
	return paths, nil
}

// reset makes the tree what it was: changed and missing files are written
// again, and new ones removed.
func (t tree) reset() error {
	changed, err := t.changed()
	if err != nil {
		return err
	}
	for _, p := range changed {
		path := filepath.Join(t.dir, filepath.FromSlash(p))
		data, ours := t.files[p]
		if !ours {
			err = os.Remove(path)
		} else if err = os.MkdirAll(filepath.Dir(path), 0o700); err == nil {
			err = os.WriteFile(path, data, 0o600)
		}
		if err != nil {
			return fmt.Errorf("restore the copy: %w", err)
		}
	}
	return nil
}

// changed lists the files that are not as they should be.
func (t tree) changed() ([]string, error) {
	var list []string
	for p, want := range t.files {
		got, err := os.ReadFile(filepath.Join(t.dir, filepath.FromSlash(p)))
		switch {
		case errors.Is(err, fs.ErrNotExist), err == nil && !bytes.Equal(got, want):
			list = append(list, p)
		case err != nil:
			return nil, fmt.Errorf("compare the copy: %w", err)
		}
	}
	present, err := walk(t.dir)
	if err != nil {
		return nil, err
	}
	for _, p := range present {
		if _, ours := t.files[p]; !ours {
			list = append(list, p)
		}
	}
	slices.Sort(list)
	return list, nil
}
