// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package mutants

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Patch is one seeded fault.
type Patch struct {
	Name string // the file's name, without its ending if that leaves no doubt
	What string // what the fault is, where the patch says so
	// Package and Run name the tests that find it, where the patch does:
	// a folder below internal/core and an expression for go test -run.
	Package, Run string
	Seed         string // where the explorer's runs have to begin to find it soon
	Text         []byte
}

// Load reads the patches of a folder: every *.patch and *.diff, by name. What
// else is there, but for notes of what was found, is skipped.
func Load(dir string) (list []Patch, skipped []string, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, nil, fmt.Errorf("read patches: %w", err)
	}
	for _, e := range entries {
		ext := filepath.Ext(e.Name())
		if e.IsDir() || ext != ".patch" && ext != ".diff" {
			if ext != ".found" {
				skipped = append(skipped, e.Name())
			}
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return nil, nil, fmt.Errorf("read patch: %w", err)
		}
		list = append(list, Parse(title(e.Name(), entries), text))
	}
	if len(list) == 0 {
		err = fmt.Errorf("no *.patch and no *.diff in %s", dir)
	}
	return list, skipped, err
}

// title is the name of a file without its ending, unless another would be called
// the same.
func title(file string, among []os.DirEntry) string {
	stem := strings.TrimSuffix(file, filepath.Ext(file))
	for _, other := range among {
		if other.Name() != file && (other.Name() == stem+".patch" || other.Name() == stem+".diff") {
			return file
		}
	}
	return stem
}

// Parse reads the head of a patch, if it has one.
func Parse(name string, text []byte) Patch {
	p := Patch{Name: name, Text: text}
	for line := range strings.Lines(string(text)) {
		key, value, ok := strings.Cut(strings.TrimSpace(line), ": ")
		if !ok {
			return p
		}
		switch key {
		case "Mutant":
			p.What = value
		case "Package":
			p.Package = value
		case "Run":
			p.Run = value
		case "Seed":
			p.Seed = value
		}
	}
	return p
}

// Only keeps the patches of these names; all of them if there are none. An
// unknown name is an error: it would seem to be killed.
func Only(list []Patch, names ...string) ([]Patch, error) {
	if len(names) == 0 {
		return list, nil
	}
	var kept []Patch
	for _, n := range names {
		i := slices.IndexFunc(list, func(p Patch) bool { return p.Name == n })
		if i < 0 {
			return nil, fmt.Errorf("no patch %q", n)
		}
		kept = append(kept, list[i])
	}
	return kept, nil
}
