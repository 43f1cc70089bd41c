// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

// Command explore searches the state space of the coordination protocol within
// bounds, prints what it has seen, and ends with status 1 and a script if an
// invariant breaks.
//
//	explore [-budget short|long|N] [-seed N] [-config NAME] [-json FILE] [-limit N] [-workers N]
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"runtime/pprof"
	"strings"
	"time"

	"github.com/tfweaver/tfweaver/internal/core/explore"
)

func main() {
	budget := flag.String("budget", "short", "how far: short, long, or how many times as far as short")
	seed := flag.Int("seed", 0, "begin with the runs of this seed")
	only := flag.String("config", "", "explore only configurations whose name has this in it")
	file := flag.String("json", "", "write the figures to this file")
	limit := flag.Int("limit", 0, "distinct states of one configuration at most; 0 for what the budget says")
	workers := flag.Int("workers", 2, "configurations that are searched at a time")
	profile := flag.String("cpuprofile", "", "write a profile to this file")
	flag.Parse()
	if *profile != "" {
		f, err := os.Create(*profile)
		if err == nil {
			err = pprof.StartCPUProfile(f)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(2)
		}
		defer pprof.StopCPUProfile()
	}
	x, err := explore.Budget(*budget, *seed, *only)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	debug.SetGCPercent(300) // what is known of a configuration lives as long as its search
	begin, seen := time.Now(), explore.Stats{}
	x.Workers = *workers
	if *limit > 0 {
		for i := range x.Jobs {
			x.Jobs[i].Limit = explore.Limit{Worlds: *limit}
		}
	}
	x.Progress = func(c *explore.Config, s explore.Stats) {
		seen.Add(s)
		fmt.Fprintf(os.Stderr, "%6.1fs %9d states %7d cores %8d edges %d capped; %d of %s\n",
			time.Since(begin).Seconds(), seen.States, seen.Cores, seen.Edges, seen.Capped, s.States, c.Name)
	}
	out := x.Run()
	table(out, time.Since(begin))
	if err := save(*file, out); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	if out.Finding != nil {
		fmt.Println(out.Finding)
		pprof.StopCPUProfile()
		os.Exit(1)
	}
}

func table(out explore.Outcome, took time.Duration) {
	fmt.Printf("configurations   %d (%d capped)\n", out.Configs, out.Capped)
	fmt.Printf("searched in full %d without mishaps, %d with one, %d with two\n", out.Full[0], out.Full[1], out.Full[2])
	fmt.Printf("distinct states  %d\n", out.States)
	fmt.Printf("core states      %d\n", out.Cores)
	fmt.Printf("core transitions %d\n", out.Edges)
	fmt.Printf("steps            %d\n", out.Steps)
	fmt.Printf("command x status %d pairs, %d missing\n", len(out.Pairs), len(out.Missing))
	if len(out.Missing) > 0 {
		fmt.Printf("never tried      %s\n", strings.Join(out.Missing, ", "))
	}
	fmt.Printf("processor time   %.1f s, wall %.1f s\n", processor().Seconds(), took.Seconds())
}

// save writes the figures, and keeps those of the mutants that are in the file.
func save(file string, out explore.Outcome) error {
	if file == "" {
		return nil
	}
	var r struct {
		States          int `json:"states"`
		Configurations  int `json:"configurations"`
		Counterexamples int `json:"counterexamples"`
		Mutants         int `json:"mutants"`
		MutantsKilled   int `json:"mutants_killed"`
	}
	old, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(old, &r)
	} else if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	r.States, r.Configurations, r.Counterexamples = out.States, out.Configs, 0
	if out.Finding != nil {
		r.Counterexamples = 1
	}
	data, err := json.Marshal(r)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(file), 0o755)
	}
	if err == nil {
		err = os.WriteFile(file, append(data, '\n'), 0o644)
	}
	if err != nil {
		return fmt.Errorf("write the figures: %w", err)
	}
	return nil
}
