// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package terraform

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/tfweaver/tfweaver/wrapper/arguments"
)

// Product tells the two CLIs apart.
type Product string

// The products.
const (
	Terraform Product = "Terraform"
	OpenTofu  Product = "OpenTofu"
)

// Command is the name of the product's program.
func (p Product) Command() string {
	if p == OpenTofu {
		return "tofu"
	}
	return "terraform"
}

// Binary is the CLI that is run.
type Binary struct {
	// Path is absolute; symbolic links are kept, because version managers
	// look at the name they are called by.
	Path    string
	Product Product
	// Guessed is true where Product is known from the name alone: a version
	// manager's script may run either. [Process.Identify] asks it.
	Guessed bool
}

// PathVariable names the CLI to run.
const PathVariable = "TFWEAVER_TERRAFORM"

// Find returns the CLI that TFWEAVER_TERRAFORM names, else the one of the version
// that Atlantis selects, else the first terraform, else the first tofu on PATH
// that is not tfweaver, of which self is the path. Nothing is run to find out.
// Errors are *NotFoundError.
func Find(env arguments.Environment, self string) (Binary, error) {
	if calledAgain(env, os.Getpid(), os.Getppid()) {
		return Binary{}, &NotFoundError{Kind: ErrLoop, Remedy: loopRemedy}
	}
	s := search{env: env, self: self}
	if named := env.Get(PathVariable); named != "" {
		return s.named(named)
	}
	for _, name := range names(env) {
		if path, ok := s.onPath(name); ok {
			return inspect(path), nil
		}
	}
	return Binary{}, s.failure()
}

// names are the programs to look for, the best first. Atlantis keeps the version
// that a project selects beside others, under a name with the version in it.
func names(env arguments.Environment) []string {
	list := []string{Terraform.Command(), OpenTofu.Command()}
	version := env.Get("ATLANTIS_TERRAFORM_VERSION")
	if version == "" || strings.ContainsAny(version, `/\`) {
		return list
	}
	if strings.EqualFold(env.Get("ATLANTIS_TERRAFORM_DISTRIBUTION"), OpenTofu.Command()) ||
		strings.EqualFold(env.Get("ATLANTIS_TERRAFORM_DISTRIBUTION"), string(OpenTofu)) {
		return append([]string{OpenTofu.Command() + version}, list...)
	}
	return append([]string{Terraform.Command() + version}, list...)
}

// search looks for one program, and remembers what it passed over.
type search struct {
	env  arguments.Environment
	self string
	// denied are programs that may not be run, relative is set where PATH has
	// entries that are relative or empty.
	denied   []string
	relative bool
}

// named is the program that the user named, by a path or by its name on PATH.
func (s *search) named(named string) (Binary, error) {
	fail := &NotFoundError{Path: named, Remedy: "correct " + PathVariable}
	path := named
	if filepath.Base(named) == named {
		found, ok := s.onPath(named)
		if !ok {
			return Binary{}, s.unnamed(fail)
		}
		path = found
	}
	path, err := filepath.Abs(path)
	if err != nil {
		fail.Kind = err
		return Binary{}, fail
	}
	switch err := runnable(path); {
	case errors.Is(err, fs.ErrPermission):
		fail.Kind, fail.Remedy = err, "run chmod +x on it, or correct "+PathVariable
	case err != nil:
		fail.Kind = err
	case ours(path, s.self):
		fail.Kind = ErrItself
	default:
		return inspect(path), nil
	}
	return Binary{}, fail
}

// unnamed says of a name that PATH does not have where else it may be.
func (s *search) unnamed(fail *NotFoundError) error {
	fail.Kind = ErrNotFound
	if runnable(fail.Path) == nil {
		fail.Remedy = "it is in the current folder, which PATH does not have: write ." + string(filepath.Separator) + fail.Path + " in " + PathVariable
	} else if len(s.denied) > 0 {
		fail.Path, fail.Kind = s.denied[0], fs.ErrPermission
		fail.Remedy = "run chmod +x on it, or correct " + PathVariable
	}
	return fail
}

// failure is that of a search that found nothing.
func (s *search) failure() error {
	if len(s.denied) > 0 {
		return &NotFoundError{
			Kind: fs.ErrPermission, Path: s.denied[0],
			Remedy: "run chmod +x on it, or set " + PathVariable + " to the path of another one",
		}
	}
	fail := &NotFoundError{Kind: ErrNotFound, Remedy: "install it, or set " + PathVariable + " to its path"}
	if s.relative {
		fail.Remedy += " (entries of PATH that are empty or relative are not searched)"
	}
	return fail
}

// onPath is the first program of a name on PATH that can be run and is not ours.
func (s *search) onPath(name string) (string, bool) {
	for _, dir := range filepath.SplitList(s.env.Get("PATH")) {
		if !filepath.IsAbs(dir) {
			// A relative entry would run whatever the current folder holds.
			s.relative = true
			continue
		}
		for _, file := range executableNames(name) {
			path := filepath.Join(dir, file)
			switch err := runnable(path); {
			case errors.Is(err, errNotExecutable):
				s.denied = append(s.denied, path)
			case err == nil && !ours(path, s.self):
				return path, true
			}
		}
	}
	return "", false
}

// executableNames are the names of the files that a program's name stands for.
func executableNames(name string) []string {
	if runtime.GOOS != "windows" {
		return []string{name}
	}
	endings := []string{".exe", ".bat", ".cmd"}
	if slices.Contains(endings, strings.ToLower(filepath.Ext(name))) {
		return []string{name}
	}
	for n, ending := range endings {
		endings[n] = name + ending
	}
	return endings
}

// errNotExecutable is a file that lacks the right to be run.
var errNotExecutable = fmt.Errorf("it is not executable: %w", fs.ErrPermission)

// errFolder is a folder in the place of a program.
var errFolder = errors.New("it is a folder")

func runnable(path string) error {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		var known *fs.PathError
		if errors.As(err, &known) {
			return known.Err // the path is named already
		}
		return err
	case info.IsDir():
		return errFolder
	case runtime.GOOS != "windows" && info.Mode()&0o111 == 0:
		return errNotExecutable
	default:
		return nil
	}
}
