// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package mutants

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"
)

// Print writes a table of what came of each patch, and the sums. What killed a
// fault by running out of time says beside which time without the fault.
func Print(w io.Writer, results []Result) error {
	table := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	fmt.Fprintln(table, "mutant\toutcome\tseconds\tkiller")
	for _, r := range results {
		said := r.Killer
		switch r.Outcome {
		case Unfit:
			said = strings.SplitN(r.Note, "\n", 2)[0]
		case TimedOut:
			said += " (" + strings.Join(r.Failure, " ") + ")"
		case Survived:
			said = fmt.Sprintf("(%d stages)", len(r.Stages))
		}
		fmt.Fprintf(table, "%s\t%s\t%.1f\t%s\n", r.Patch.Name, r.Outcome, r.Took.Seconds(), said)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	total := Count(results)
	_, err := fmt.Fprintf(w, "%d mutants, %d killed, %d survived, %d unfit\n", len(results), total.Killed, total.Survived, total.Unfit)
	return err
}

// Totals are how many patches came to which end.
type Totals struct{ Killed, Survived, Unfit int }

// Count adds up what came of patches.
func Count(results []Result) Totals {
	var t Totals
	for _, r := range results {
		switch {
		case r.Outcome.Dead():
			t.Killed++
		case r.Outcome == Survived:
			t.Survived++
		default:
			t.Unfit++
		}
	}
	return t
}

// Record writes the sums into a file of figures, as mutants and mutants_killed,
// and leaves the other figures of the file as they are. A file that is not there
// yet is made with the explorer's figures at zero.
func Record(file string, results []Result) error {
	figures := map[string]any{"states": 0, "configurations": 0, "counterexamples": 0}
	data, err := os.ReadFile(file)
	if err == nil {
		var known map[string]json.RawMessage
		if err = json.Unmarshal(data, &known); err == nil {
			for k, v := range known {
				figures[k] = v
			}
		}
	} else if errors.Is(err, fs.ErrNotExist) {
		err = os.MkdirAll(filepath.Dir(file), 0o755)
	}
	if err != nil {
		return fmt.Errorf("record figures: %w", err)
	}
	figures["mutants"], figures["mutants_killed"] = len(results), Count(results).Killed
	data, err = json.MarshalIndent(figures, "", "  ")
	if err == nil {
		err = os.WriteFile(file+".new", append(data, '\n'), 0o644)
	}
	if err == nil {
		err = os.Rename(file+".new", file)
	}
	if err != nil {
		return fmt.Errorf("record figures: %w", err)
	}
	return nil
}
