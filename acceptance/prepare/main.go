// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

// Command prepare does the slow part of the acceptance tests beforehand: it
// compiles the programs and finds the Terraform CLI, or builds OpenTofu where
// there is none. The tests do the same when it was not run, but a test binary
// has a time limit and shows its progress late.
//
// With -opentofu it builds OpenTofu whatever else there is, and prints the path
// of its program, for tests that are to run with both.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/tfweaver/tfweaver/acceptance/lab"
)

func main() {
	openTofu := flag.Bool("opentofu", false, "build OpenTofu, and print where its program is")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	act := prepare
	if *openTofu {
		act = tofu
	}
	err := act(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "prepare:", err)
		os.Exit(1)
	}
}

// progress leaves standard output to the result.
func progress(format string, args ...any) { fmt.Fprintf(os.Stderr, format+"\n", args...) }

// prepare opens the lab once and says which CLI will be used.
func prepare(ctx context.Context) error {
	l, err := lab.Open(ctx, progress)
	if err != nil {
		return err
	}
	_, err = fmt.Printf("ready: %s, %s\n", l.CLI, l.CLI.Path)
	return errors.Join(err, l.Close())
}

// tofu prints the path of OpenTofu's program.
func tofu(ctx context.Context) error {
	module, err := lab.ModuleRoot(ctx)
	if err != nil {
		return err
	}
	path, err := lab.BuildOpenTofu(ctx, module, progress)
	if err != nil {
		return err
	}
	_, err = fmt.Println(path)
	return err
}
