// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package main

import (
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/tfweaver/tfweaver/internal/core/mutants"
)

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
		switch {
		case r.Outcome == mutants.Unfit:
			fmt.Fprint(w, r.Note)
		case r.Note != "":
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

// waiting prints which stage of which patch takes long.
func waiting(w io.Writer) func(mutants.Patch, string, time.Duration) {
	var mu sync.Mutex
	return func(p mutants.Patch, stage string, soFar time.Duration) {
		mu.Lock()
		defer mu.Unlock()
		fmt.Fprintf(w, "  %s: %s, %.0f s so far\n", p.Name, stage, soFar.Seconds())
	}
}
