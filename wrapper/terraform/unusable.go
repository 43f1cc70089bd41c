// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package terraform

import (
	"errors"
	"io/fs"
	"strings"
)

// The reasons why no CLI was found; they are matched with errors.Is.
var (
	// ErrNotFound: there is none.
	ErrNotFound = errors.New("no Terraform or OpenTofu CLI found")
	// ErrItself: what was named is tfweaver itself.
	ErrItself = errors.New("this is tfweaver itself")
	// ErrLoop: the program that was taken for the CLI calls tfweaver again.
	ErrLoop = errors.New("the CLI that was found " + again)
	// ErrFormat: the file is no program for this machine.
	ErrFormat = errors.New("it is no program that this machine can run: it is damaged, made for another system or processor, or a script without a first line such as #!/bin/sh")
	// ErrInterpreter: the file is there, and what it needs to be run is not.
	ErrInterpreter = errors.New("what it needs to be run is not there: the program that its first line names, or the system's loader")
)

// again is how tfweaver says that it was called in the place of the CLI; it knows
// its own words in what a program prints that was taken for the CLI.
const again = "calls tfweaver again"

const loopRemedy = "set " + PathVariable + " to the path of the real CLI"

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

// Exit codes of shells for a command that they cannot run. Whoever has terraform
// as an alias of tfweaver sees what they would see without it.
const (
	// ExitNotFound: there is no such program.
	ExitNotFound = 127
	// ExitNotRunnable: there is one, and it cannot be run.
	ExitNotRunnable = 126
)

// ExitCode is the exit code of a shell for the same trouble; 0 where a shell knows
// none such.
func (e *NotFoundError) ExitCode() int {
	switch {
	case errors.Is(e.Kind, ErrLoop), errors.Is(e.Kind, ErrItself):
		return 0
	case errors.Is(e.Kind, ErrNotFound), errors.Is(e.Kind, fs.ErrNotExist):
		return ExitNotFound
	default:
		return ExitNotRunnable
	}
}

// Unrunnable explains why a CLI that was found could not be started. Other errors,
// such as that of a CLI that ran, are returned as they are.
func Unrunnable(path string, err error) error {
	fail := &NotFoundError{Path: path, Remedy: "install it again, or set " + PathVariable + " to the path of another one"}
	switch {
	case badFormat(err):
		fail.Kind = ErrFormat
	case errors.Is(err, fs.ErrNotExist):
		if fail.Kind = ErrInterpreter; runnable(path) != nil {
			fail.Kind = fs.ErrNotExist
		}
	case errors.Is(err, fs.ErrPermission):
		fail.Kind = fs.ErrPermission
	default:
		return err
	}
	return fail
}

// comesBack says whether a CLI that failed is one that calls tfweaver again.
func comesBack(err error) bool {
	var failed *OutputError
	if !errors.As(err, &failed) {
		return false
	}
	said := strings.Fields(strings.ReplaceAll(failed.Stderr, "│", " "))
	return strings.Contains(strings.Join(said, " "), again)
}
