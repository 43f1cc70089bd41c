// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"regexp"
	"runtime"
	"strings"
	"time"

	"github.com/tfweaver/tfweaver/acceptance/lab"
	"github.com/tfweaver/tfweaver/acceptance/program"
)

func main() { program.Main("cost", run) }

// settings are the command line.
type settings struct {
	out                 string
	rounds, size, large int
	only                string
}

func (s *settings) read(args []string, stderr io.Writer) error {
	flags := flag.NewFlagSet("cost", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.StringVar(&s.out, "out", "build/cost", "folder for the figures")
	flags.IntVar(&s.rounds, "rounds", 5, "runs of each kind of work with and without tfweaver")
	flags.IntVar(&s.size, "size", 500, "how many objects there are")
	flags.IntVar(&s.large, "large", 5000, "how many objects a large plan has")
	flags.StringVar(&s.only, "only", "", "regular expression that chooses kinds of work by name")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if s.rounds < 1 || s.size < 1 || s.large < 1 {
		return errors.New("-rounds, -size and -large must be positive")
	}
	return nil
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	var s settings
	if err := s.read(args, stderr); err != nil {
		return err
	}
	only, err := regexp.Compile(s.only)
	if err != nil {
		return fmt.Errorf("-only: %w", err)
	}
	start := time.Now()
	progress := program.Since(start, stderr)
	l, err := lab.Open(ctx, progress)
	if err != nil {
		return err
	}
	r := report{
		CLI: l.CLI.String(), CPUs: runtime.NumCPU(), Measured: start.UTC(), Load: load(),
		Rounds: s.rounds, Size: s.size, Large: s.large,
	}
	for _, scene := range scenes(s.size, s.large) {
		if !only.MatchString(scene.name) {
			continue
		}
		f, failed := scene.play(ctx, l, s.rounds, progress)
		if err = failed; err != nil {
			break
		}
		r.Figures = append(r.Figures, f)
	}
	return errors.Join(err, r.table(stdout), program.WriteFigures(s.out, "cost.json", r), l.Close())
}

// load is the load average over a minute, where the system tells it.
func load() string {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	one, _, _ := strings.Cut(string(text), " ")
	return one
}
