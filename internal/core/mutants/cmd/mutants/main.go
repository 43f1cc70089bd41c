// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

// Command mutants seeds faults into a copy of the repository and prints which
// of them no test finds.
//
// Usage:
//
//	mutants [-dir FOLDER] [-only NAME,...] [-json FILE] [-parallel N] [-timeout D] [-quick] [-record] [-v]
//
// Without -dir it tries the project's own patches. With -record it writes beside
// each patch how it was found, as NAME.found. What takes long is told on standard
// error.
//
// The exit code is 0 if all were killed, 1 if one survived, and 2 if one is unfit
// (it does not apply or build, or changes no code of the core), if the code fails
// without any, or if the command line is wrong. Interrupted, hung up or
// terminated, it prints what is known so far and exits with 128 and the number of
// the signal: 130, 129 or 143.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/tfweaver/tfweaver/internal/core/mutants"
)

const (
	exitSurvived = 1
	exitUnfit    = 2
)

func main() {
	ctx, signalled := mutants.Interruptible(context.Background())
	code, err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	if n := signalled(); n > 0 {
		code, err = n, errors.New("interrupted; what is not in the table was not tried to the end")
	}
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "mutants:", err)
	}
	os.Exit(code)
}

// options are what the command line says.
type options struct {
	dir, only, figures    string
	parallel              int
	limit                 time.Duration
	quick, record, detail bool
}

func parse(args []string, stderr io.Writer) (options, error) {
	var o options
	f := flag.NewFlagSet("mutants", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.StringVar(&o.dir, "dir", "", "folder of patches; the project's own if empty")
	f.StringVar(&o.only, "only", "", "names of patches, separated by commas")
	f.StringVar(&o.figures, "json", "", "file of figures whose mutants and mutants_killed to set")
	f.IntVar(&o.parallel, "parallel", 2, "patches tried at a time")
	f.DurationVar(&o.limit, "timeout", 5*time.Minute, "the most that one package's tests may take")
	f.BoolVar(&o.quick, "quick", false, "only the tests of what a patch touches, stories and scripts")
	f.BoolVar(&o.record, "record", false, "write beside each patch how it was found, NAME.found")
	f.BoolVar(&o.detail, "v", false, "print how each was found")
	if err := f.Parse(args); err != nil {
		return o, err
	}
	if f.NArg() > 0 {
		return o, fmt.Errorf("unexpected argument %q", f.Arg(0))
	}
	return o, nil
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) (int, error) {
	o, err := parse(args, stderr)
	if err != nil {
		return exitUnfit, err
	}
	root, err := moduleRoot(ctx)
	if err != nil {
		return exitUnfit, err
	}
	patches, err := o.load(root, stderr)
	if err != nil {
		return exitUnfit, err
	}
	r := mutants.Runner{Root: root, Parallel: o.parallel, Limit: o.limit, Quick: o.quick}
	r.Progress, r.Waiting = progress(stdout, o.detail), waiting(stderr)
	if o.record {
		r.Progress = noting(o.folder(root), stderr, r.Progress)
	}
	results, err := r.Run(ctx, patches)
	if err != nil {
		_, _ = report(stdout, results, "") // the figures are those of all
		return exitUnfit, err
	}
	return report(stdout, results, o.figures)
}

// folder is where the patches are.
func (o options) folder(root string) string {
	if o.dir == "" {
		return filepath.Join(root, "internal", "core", "mutants")
	}
	return o.dir
}

// load reads the patches that are asked for, and says what it takes for none in a
// folder of somebody else's.
func (o options) load(root string, stderr io.Writer) ([]mutants.Patch, error) {
	patches, skipped, err := mutants.Load(o.folder(root))
	if o.dir != "" {
		for _, name := range skipped {
			fmt.Fprintf(stderr, "skipped %s: not .patch or .diff\n", name)
		}
	}
	if err != nil || o.only == "" {
		return patches, err
	}
	return mutants.Only(patches, strings.Split(o.only, ",")...)
}

// moduleRoot is the folder of the go.mod that holds for the working directory.
func moduleRoot(ctx context.Context) (string, error) {
	out, err := exec.CommandContext(ctx, "go", "env", "GOMOD").Output()
	if err != nil {
		return "", fmt.Errorf("find the module: %w", err)
	}
	file := string(bytes.TrimSpace(out))
	if filepath.Base(file) != "go.mod" {
		return "", errors.New("not inside the repository")
	}
	return filepath.Dir(file), nil
}
