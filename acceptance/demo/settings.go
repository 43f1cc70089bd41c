// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package main

import (
	"flag"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// settings are what the user asks for.
type settings struct {
	scale float64
	seed  uint64
	out   string
	// seeds are set to run the shape for several seeds instead of one demo.
	seeds []uint64
	// recompute reads the logs of an earlier demo instead of running one.
	recompute bool
}

// parse reads environment and flags.
func parse(args []string, getenv func(string) string, stderr io.Writer) (settings, error) {
	s := settings{scale: 1, out: "build/demo"}
	flags := flag.NewFlagSet("demo", flag.ContinueOnError)
	flags.SetOutput(stderr)
	seeds := flags.String("seeds", "", "run for a range of seeds, such as 1-10, and print a table")
	flags.BoolVar(&s.recompute, "recompute", false, "compute result.json again from the activity logs of the last demo")
	if err := flags.Parse(args); err != nil {
		return s, err
	}
	if flags.NArg() > 0 {
		return s, fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	if err := s.environment(getenv); err != nil {
		return s, err
	}
	if *seeds == "" {
		return s, nil
	}
	var err error
	s.seeds, err = seedRange(*seeds)
	return s, err
}

// environment reads SCALE, DEMO_SEED and DEMO_OUT.
func (s *settings) environment(getenv func(string) string) (err error) {
	if text := getenv("SCALE"); text != "" {
		if s.scale, err = strconv.ParseFloat(text, 64); err != nil || !(s.scale > 0 && s.scale <= 100) {
			return fmt.Errorf("SCALE=%s is not a number above 0 and up to 100", text)
		}
	}
	if text := getenv("DEMO_SEED"); text != "" {
		if s.seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			return fmt.Errorf("DEMO_SEED=%s is not a whole number", text)
		}
	}
	if text := getenv("DEMO_OUT"); text != "" {
		s.out = text
	}
	return nil
}

// mostSeeds bounds a range, for each seed takes a minute or so.
const mostSeeds = 1000

// seedRange reads FIRST-LAST or one number.
func seedRange(text string) ([]uint64, error) {
	first, last, isRange := strings.Cut(text, "-")
	if !isRange {
		last = first
	}
	from, err1 := strconv.ParseUint(first, 10, 64)
	to, err2 := strconv.ParseUint(last, 10, 64)
	if err1 != nil || err2 != nil || to < from || to-from >= mostSeeds {
		return nil, fmt.Errorf("-seeds %s is not a range such as 1-10 of at most %d seeds", text, mostSeeds)
	}
	var seeds []uint64
	for n := from; n <= to; n++ {
		seeds = append(seeds, n)
	}
	return seeds, nil
}
