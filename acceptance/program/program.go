// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

// Package program is what the commands of the acceptance suite have in common:
// how they end, how they tell of their progress, and how they write figures.
package program

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/tfweaver/tfweaver/acceptance/lab"
)

// Run is what a command does with its arguments.
type Run func(ctx context.Context, args []string, stdout, stderr io.Writer) error

// ErrUsage is that a command line is wrong.
var ErrUsage = errors.New("see -h")

// Main runs a command and ends the process: with 2 if it was only to show its
// options or they are wrong, and with 1 after another error. Ctrl-C and SIGTERM
// end the context.
func Main(name string, run Run) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	switch {
	case errors.Is(err, flag.ErrHelp):
		os.Exit(2)
	case err != nil:
		fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
		if errors.Is(err, ErrUsage) {
			os.Exit(2)
		}
		os.Exit(1)
	}
}

// Since writes progress with the seconds since a moment.
func Since(start time.Time, out io.Writer) lab.Progress {
	return func(format string, args ...any) {
		fmt.Fprintf(out, "%7.1fs  %s\n", time.Since(start).Seconds(), fmt.Sprintf(format, args...))
	}
}

// Show writes what a round has told and, as JSON, what came of it.
func Show(out io.Writer, report string, result any) error {
	text, err := json.MarshalIndent(result, "", "  ")
	if err != nil {
		return fmt.Errorf("encode the result: %w", err)
	}
	_, err = fmt.Fprintf(out, "%s\n%s\n", report, text)
	return err
}

// WriteFigures writes figures as JSON into a file of a folder, which is made if
// it is not there.
func WriteFigures(folder, file string, figures any) error {
	text, err := json.MarshalIndent(figures, "", "  ")
	if err != nil {
		return fmt.Errorf("encode the figures: %w", err)
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return fmt.Errorf("write the figures: %w", err)
	}
	if err := os.WriteFile(filepath.Join(folder, file), append(text, '\n'), 0o644); err != nil {
		return fmt.Errorf("write the figures: %w", err)
	}
	return nil
}
