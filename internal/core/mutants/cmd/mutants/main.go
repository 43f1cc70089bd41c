// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

// Command mutants seeds faults into a copy of the repository and prints which
// of them no test finds.
//
// Usage:
//
//	mutants [-dir FOLDER] [-only NAME,...] [-json FILE] [-parallel N] [-timeout D] [-quick] [-record] [-v]
//
// Without -dir it tries the project's own patches. The exit code is 0 if all
// were killed, 1 if one survived, and 2 if one does not apply or does not build,
// or if the code fails without any.
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
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/tfweaver/tfweaver/internal/core/mutants"
)

const (
	exitSurvived = 1
	exitUnfit    = 2
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	code, err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "mutants:", err)
	}
	os.Exit(code)
}

func run(ctx context.Context, args []string, w io.Writer) (int, error) {
	f := flag.NewFlagSet("mutants", flag.ContinueOnError)
	dir := f.String("dir", "", "folder of patches; the project's own if empty")
	only := f.String("only", "", "names of patches, separated by commas")
	figures := f.String("json", "", "file of figures whose mutants and mutants_killed to set")
	parallel := f.Int("parallel", 2, "patches tried at a time")
	limit := f.Duration("timeout", 5*time.Minute, "the most that one package's tests may take")
	quick := f.Bool("quick", false, "only the tests of what a patch touches, stories and scripts")
	note := f.Bool("record", false, "write beside each patch how it was found, NAME.found")
	verbose := f.Bool("v", false, "print how each was found")
	if err := f.Parse(args); err != nil {
		return exitUnfit, err
	}
	if f.NArg() > 0 {
		return exitUnfit, fmt.Errorf("unexpected argument %q", f.Arg(0))
	}
	root, err := moduleRoot(ctx)
	if err != nil {
		return exitUnfit, err
	}
	if *dir == "" {
		*dir = filepath.Join(root, "internal", "core", "mutants")
	}
	patches, err := mutants.Load(*dir)
	if err == nil && *only != "" {
		patches, err = mutants.Only(patches, strings.Split(*only, ",")...)
	}
	if err != nil {
		return exitUnfit, err
	}
	r := mutants.Runner{Root: root, Parallel: *parallel, Limit: *limit, Quick: *quick, Progress: progress(w, *verbose)}
	if *note {
		r.Progress = noting(*dir, w, r.Progress)
	}
	results, err := r.Run(ctx, patches)
	if err != nil {
		return exitUnfit, err
	}
	return report(w, results, *figures)
}

// report prints the table, and records the sums where that is asked for.
func report(w io.Writer, results []mutants.Result, figures string) (int, error) {
	fmt.Fprintln(w)
	if err := mutants.Print(w, results); err != nil {
		return exitUnfit, err
	}
	if figures != "" {
		if err := mutants.Record(figures, results); err != nil {
			return exitUnfit, err
		}
	}
	switch t := mutants.Count(results); {
	case t.Unfit > 0:
		return exitUnfit, nil
	case t.Survived > 0:
		return exitSurvived, nil
	}
	return 0, nil
}

// progress prints a line, or all that is known, as soon as a patch is done.
func progress(w io.Writer, verbose bool) func(mutants.Result) {
	var mu sync.Mutex
	return func(r mutants.Result) {
		mu.Lock()
		defer mu.Unlock()
		fmt.Fprintf(w, "%-18s %-32s %5.1fs  %s", r.Outcome, r.Patch.Name, r.Took.Seconds(), r.Killer)
		if r.Note != "" {
			fmt.Fprintf(w, "  [%s]", r.Note)
		}
		fmt.Fprintln(w)
		if !verbose {
			return
		}
		if r.Patch.What != "" {
			fmt.Fprintln(w, "    "+r.Patch.What)
		}
		lines := r.Failure
		if !r.Outcome.Dead() {
			lines = r.Stages
		}
		for _, l := range lines {
			fmt.Fprintln(w, "    | "+l)
		}
	}
}

// noting also writes down how each was found, as soon as it is.
func noting(dir string, w io.Writer, then func(mutants.Result)) func(mutants.Result) {
	return func(r mutants.Result) {
		if err := mutants.Note(dir, []mutants.Result{r}); err != nil {
			fmt.Fprintln(w, err)
		}
		then(r)
	}
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
