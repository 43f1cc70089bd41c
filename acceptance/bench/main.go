// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

// Command bench measures what coordination costs, part by part: decisions of the
// state machine, durable commits, how the time of many sessions grows with their
// number, the paper's trace, waiting for one another with the real CLI, and what
// the wrapper costs beside the CLI alone. Each part prints a table and writes JSON;
// at the end stand all figures that have a bar. A bar that is missed is a result
// and no error. Run it on a machine that does nothing else.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"time"

	"github.com/tfweaver/tfweaver/acceptance/lab"
	"github.com/tfweaver/tfweaver/acceptance/program"
)

func main() { program.Main("bench", run) }

// bench is what the parts work with.
type bench struct {
	// out is the folder for figures, absolute.
	out   string
	quick bool
	seed  uint64
	// rounds is how often each kind of work is done with real processes.
	rounds int

	// environment is what programs that it runs find beside its own.
	environment    []string
	stdout, stderr io.Writer
	progress       lab.Progress
	figures        []Figure
}

// part is one of the things that are measured.
type part struct {
	name string
	run  func(context.Context, *bench) error
}

func parts() []part {
	return []part{
		{"admission", admission},
		{"socket", socket},
		{"durable", durable},
		{"recovery", recovery},
		{"scaling", scale},
		{"paper", paper},
		{"contention", contention},
		{"overhead", overhead},
	}
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	b := &bench{stdout: stdout, stderr: stderr, progress: program.Since(time.Now(), stderr)}
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.StringVar(&b.out, "out", "build/bench", "folder for the figures")
	flags.BoolVar(&b.quick, "quick", false, "smaller sizes, for a first look")
	flags.Uint64Var(&b.seed, "seed", 1, "what workloads and latencies in virtual time are drawn from")
	flags.IntVar(&b.rounds, "rounds", 3, "how often each kind of work is done with and without tfweaver")
	only := flags.String("only", "", "regular expression that chooses parts: admission, socket, durable, recovery, scaling, paper, contention, overhead")
	if err := flags.Parse(args); err != nil {
		return fmt.Errorf("%w: %w", program.ErrUsage, err)
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("%q is not an option: %w", flags.Arg(0), program.ErrUsage)
	}
	if b.rounds < 1 {
		return fmt.Errorf("-rounds must be positive: %w", program.ErrUsage)
	}
	chosen, err := regexp.Compile(*only)
	if err != nil {
		return fmt.Errorf("-only: %w: %w", err, program.ErrUsage)
	}
	if b.out, err = filepath.Abs(b.out); err != nil {
		return fmt.Errorf("-out: %w", err)
	}
	if err := os.MkdirAll(b.out, 0o755); err != nil {
		return fmt.Errorf("-out: %w", err)
	}
	return b.all(ctx, chosen)
}

var errNoPart = fmt.Errorf("-only chooses no part: %w", program.ErrUsage)

// all runs the chosen parts. One that fails does not keep the others from being
// measured.
func (b *bench) all(ctx context.Context, chosen *regexp.Regexp) error {
	var failed []error
	count := 0
	for _, p := range parts() {
		if !chosen.MatchString(p.name) {
			continue
		}
		count++
		b.progress("%s", p.name)
		fmt.Fprintf(b.stdout, "\n== %s\n", p.name)
		if err := p.run(ctx, b); err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", p.name, err))
		}
		if ctx.Err() != nil {
			break
		}
	}
	if count == 0 {
		return errNoPart
	}
	return errors.Join(append(failed, b.summarise())...)
}
