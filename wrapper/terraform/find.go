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
	"strconv"
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
}

// The reasons why no CLI was found; they are matched with errors.Is.
var (
	// ErrNotFound: there is none.
	ErrNotFound = errors.New("no Terraform or OpenTofu CLI found")
	// ErrItself: what was named is tfweaver itself.
	ErrItself = errors.New("this is tfweaver itself")
	// ErrLoop: the program that was taken for the CLI calls tfweaver again.
	ErrLoop = errors.New("the CLI that was found calls tfweaver again")
)

// NotFoundError says which program cannot be used, and what to do.
type NotFoundError struct {
	// Kind is one of the errors above, or of the operating system.
	Kind error
	// Path is the program; empty when there is none.
	Path   string
	Remedy string
}

// Error names the program, the reason and the remedy.
func (e *NotFoundError) Error() string {
	text := e.Kind.Error()
	if e.Path != "" {
		text = e.Path + ": " + text
	}
	return text + "; " + e.Remedy
}

// Unwrap returns the Kind.
func (e *NotFoundError) Unwrap() error { return e.Kind }

// PathVariable names the CLI to run.
const PathVariable = "TFWEAVER_TERRAFORM"

// depthVariable counts how often tfweaver runs within itself. Once or twice
// is normal (a provisioner may run it); a shell script that is called
// "terraform" and runs tfweaver would go on for ever.
const depthVariable = "TFWEAVER_DEPTH"

const maxDepth = 8

// Find returns the CLI that TFWEAVER_TERRAFORM names, else the first
// terraform, else the first tofu on PATH that is not self, the path of the
// running program. Errors are *NotFoundError.
func Find(env arguments.Environment, self string) (Binary, error) {
	if depth(env) >= maxDepth {
		return Binary{}, &NotFoundError{Kind: ErrLoop, Remedy: "set " + PathVariable + " to the path of the real CLI"}
	}
	if named := env.Get(PathVariable); named != "" {
		return findNamed(named, env, self)
	}
	for _, product := range []Product{Terraform, OpenTofu} {
		if path, ok := onPath(product.Command(), env, self); ok {
			return Binary{Path: path, Product: productOf(path)}, nil
		}
	}
	return Binary{}, &NotFoundError{
		Kind:   ErrNotFound,
		Remedy: "install it, or set " + PathVariable + " to its path",
	}
}

func findNamed(named string, env arguments.Environment, self string) (Binary, error) {
	fail := &NotFoundError{Path: named, Remedy: "correct " + PathVariable}
	path := named
	if filepath.Base(named) == named {
		found, ok := onPath(named, env, self)
		if !ok {
			fail.Kind = ErrNotFound
			return Binary{}, fail
		}
		path = found
	}
	path, err := filepath.Abs(path)
	if err != nil {
		fail.Kind = err
		return Binary{}, fail
	}
	switch err := runnable(path); {
	case err != nil:
		fail.Kind = err
	case same(path, self):
		fail.Kind = ErrItself
	default:
		return Binary{Path: path, Product: productOf(path)}, nil
	}
	return Binary{}, fail
}

func onPath(name string, env arguments.Environment, self string) (string, bool) {
	for _, dir := range filepath.SplitList(env.Get("PATH")) {
		if !filepath.IsAbs(dir) {
			// A relative entry would run whatever the current folder holds.
			continue
		}
		path := filepath.Join(dir, executableName(name))
		if runnable(path) == nil && !same(path, self) {
			return path, true
		}
	}
	return "", false
}

func executableName(name string) string {
	if runtime.GOOS == "windows" && filepath.Ext(name) == "" {
		return name + ".exe"
	}
	return name
}

func runnable(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if info.IsDir() || (runtime.GOOS != "windows" && info.Mode()&0o111 == 0) {
		return fs.ErrPermission
	}
	return nil
}

// same says whether two paths lead to one file, also over links.
func same(a, b string) bool {
	ia, err := os.Stat(a)
	if err != nil {
		return false
	}
	ib, err := os.Stat(b)
	return err == nil && os.SameFile(ia, ib)
}

// productOf goes by the name of the program that path leads to.
func productOf(path string) Product {
	if resolved, err := filepath.EvalSymlinks(path); err == nil {
		path = resolved
	}
	if strings.Contains(strings.ToLower(filepath.Base(path)), "tofu") {
		return OpenTofu
	}
	return Terraform
}

func depth(env arguments.Environment) int {
	n, err := strconv.Atoi(env.Get(depthVariable))
	if err != nil {
		return 0
	}
	return n
}

// Deeper is the environment for the CLI, with the depth counted on.
func Deeper(env arguments.Environment) arguments.Environment {
	return env.With(depthVariable, fmt.Sprint(depth(env)+1))
}
