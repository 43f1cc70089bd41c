// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

// Command demo repeats the preliminary validation of the CloudWeaver paper with
// real Terraform runs on a simulated cloud, under three policies, and draws what
// happened. "make demo" runs it.
//
// Settings come from the environment: SCALE multiplies the cloud's latencies
// (1), DEMO_SEED perturbs latencies and names (0, the paper's trace), DEMO_OUT is
// where results go (build/demo). It exits with 1 when the outcome is not what the
// paper found.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/tfweaver/tfweaver/acceptance/lab"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Getenv, os.Stdout, os.Stderr)
	stop()
	switch {
	case errors.Is(err, flag.ErrHelp):
		os.Exit(2)
	case err != nil:
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1)
	}
}

// run does what the settings ask for.
func run(ctx context.Context, args []string, getenv func(string) string, stdout, stderr io.Writer) error {
	s, err := parse(args, getenv, stderr)
	if err != nil {
		return err
	}
	if s.recompute {
		return recompute(s, stdout)
	}
	progress := announcer(stderr)
	l, err := lab.Open(ctx, progress)
	if err != nil {
		return err
	}
	progress("using %s", l.CLI)
	if len(s.seeds) > 0 {
		err = overSeeds(ctx, l, s, progress, stdout)
	} else {
		err = once(ctx, l, s, progress, stdout)
	}
	return errors.Join(err, l.Close())
}

// announcer writes progress lines with the time since the start.
func announcer(out io.Writer) lab.Progress {
	start := time.Now()
	return func(format string, args ...any) {
		fmt.Fprintf(out, "%7.1fs  %s\n", time.Since(start).Seconds(), fmt.Sprintf(format, args...))
	}
}
