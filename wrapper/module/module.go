// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package module

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclparse"
)

// Bounds of what is read: more is no configuration.
const (
	maxFile    = 16 << 20
	maxFiles   = 5_000
	maxModules = 5_000
)

// Type is a type of resources that are managed.
type Type struct {
	// Name is such as aws_instance.
	Name string
	// Source is the provider's source address as it is written, with or without
	// a host; NAMESPACE/TYPE by the CLI's default where none is.
	Source string
}

// Tree is a root module with the modules that "terraform init" installed for it.
type Tree struct {
	// Files is how many files the root module has, Modules how many modules there
	// are with it.
	Files, Modules int
	// Types are sorted, each once.
	Types []Type
	// Required are the source addresses of all required providers, as written,
	// sorted.
	Required []string
	// Backend is the type of backend that the root module asks for, "cloud" for a
	// cloud block; empty for none.
	Backend string
	// Missing are modules that are called and not installed, as module.NAME.
	Missing []string
	// Mistakes are the files that cannot be read or understood, at most one error
	// each.
	Mistakes []error
}

// Read reads the root module in a folder, and those that are installed under
// dataDir. tofu also reads the files that are OpenTofu's alone. There is no error:
// what cannot be read is among the mistakes.
func Read(root, dataDir string, tofu bool) Tree {
	r := reader{tree: &Tree{}, root: root, tofu: tofu, parser: hclparse.NewParser()}
	dirs, err := installed(root, dataDir)
	if err != nil {
		r.tree.Mistakes = append(r.tree.Mistakes, err)
	}
	r.known = dirs
	for _, dir := range slices.Compact(slices.Sorted(values(root, dirs))) {
		r.module(dir)
	}
	r.tree.Required = unique(r.tree.Required)
	r.tree.Missing = unique(r.tree.Missing)
	slices.SortFunc(r.tree.Types, func(a, b Type) int { return strings.Compare(a.Name+" "+a.Source, b.Name+" "+b.Source) })
	r.tree.Types = slices.Compact(r.tree.Types)
	return *r.tree
}

func values(root string, dirs map[string]string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		if !yield(filepath.Clean(root)) {
			return
		}
		for _, dir := range dirs {
			if !yield(dir) {
				return
			}
		}
	}
}

func unique(list []string) []string {
	slices.Sort(list)
	return slices.Compact(list)
}

// installed are the folders of the modules by their place in the tree, such as
// "network" and "network.subnet".
func installed(root, dataDir string) (map[string]string, error) {
	text, err := readFile(filepath.Join(dataDir, "modules", "modules.json"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the installed modules: %w", err)
	}
	var manifest struct {
		Modules []struct{ Key, Dir string }
	}
	if err := json.Unmarshal(text, &manifest); err != nil {
		return nil, fmt.Errorf("understand the installed modules: %w", err)
	}
	dirs := make(map[string]string)
	for _, m := range manifest.Modules[:min(len(manifest.Modules), maxModules)] {
		dir := filepath.FromSlash(m.Dir)
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(root, dir)
		}
		dirs[m.Key] = filepath.Clean(dir)
	}
	return dirs, nil
}

func readFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err == nil && len(text) > maxFile {
		err = fmt.Errorf("%s has more than %d bytes", path, maxFile)
	}
	return text, err
}

// reader fills a tree.
type reader struct {
	tree   *Tree
	root   string
	tofu   bool
	parser *hclparse.Parser
	known  map[string]string
}

// module reads one module.
func (r *reader) module(dir string) {
	files, err := os.ReadDir(dir)
	if err != nil {
		r.tree.Mistakes = append(r.tree.Mistakes, fmt.Errorf("read the module: %w", err))
		return
	}
	r.tree.Modules++
	isRoot := dir == filepath.Clean(r.root)
	m := part{required: map[string]string{}}
	for _, f := range files[:min(len(files), maxFiles)] {
		if f.IsDir() || !r.configuration(f.Name()) {
			continue
		}
		if isRoot {
			r.tree.Files++
		}
		r.file(filepath.Join(dir, f.Name()), &m)
	}
	for _, u := range m.used {
		r.tree.Types = append(r.tree.Types, Type{Name: u.name, Source: m.source(u.provider)})
	}
	for _, source := range m.required {
		r.tree.Required = append(r.tree.Required, source)
	}
	if isRoot {
		r.tree.Backend = m.backend
		for _, name := range m.calls {
			if _, ok := r.known[name]; !ok {
				r.tree.Missing = append(r.tree.Missing, "module."+name)
			}
		}
	}
}

// configuration says whether a file's name is one of the configuration.
func (r *reader) configuration(name string) bool {
	if strings.HasPrefix(name, ".") || strings.HasSuffix(name, "~") || strings.HasPrefix(name, "#") {
		return false
	}
	for _, ending := range []string{".tf", ".tf.json"} {
		if strings.HasSuffix(name, ending) || (r.tofu && strings.HasSuffix(name, strings.Replace(ending, ".tf", ".tofu", 1))) {
			return true
		}
	}
	return false
}

// file reads one file. A file with mistakes is read as far as it goes.
func (r *reader) file(path string, m *part) {
	text, err := readFile(path)
	if err != nil {
		r.tree.Mistakes = append(r.tree.Mistakes, err)
		return
	}
	parse := r.parser.ParseHCL
	if strings.HasSuffix(path, ".json") {
		parse = r.parser.ParseJSON
	}
	file, diags := parse(text, path)
	if diags.HasErrors() {
		r.tree.Mistakes = append(r.tree.Mistakes, mistake(diags))
	}
	if file != nil && file.Body != nil {
		m.read(file.Body)
	}
}

// mistake is the first error of a file, in one line.
func mistake(diags hcl.Diagnostics) error {
	first := diags.Errs()[0]
	var d *hcl.Diagnostic
	if errors.As(first, &d) && d.Subject != nil {
		return fmt.Errorf("%s:%d: %s", d.Subject.Filename, d.Subject.Start.Line, d.Summary)
	}
	return first
}
