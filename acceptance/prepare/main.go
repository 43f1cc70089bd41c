// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

// Command prepare does the slow part of the acceptance tests beforehand: it
// compiles the programs and finds the Terraform CLI, or builds OpenTofu where
// there is none. The tests do the same when it was not run, but a test binary
// has a time limit and shows its progress late.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/tfweaver/tfweaver/acceptance/lab"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := prepare(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "prepare:", err)
		os.Exit(1)
	}
}

// prepare opens the lab once and says which CLI will be used.
func prepare(ctx context.Context) error {
	l, err := lab.Open(ctx, func(format string, args ...any) { fmt.Printf(format+"\n", args...) })
	if err != nil {
		return err
	}
	_, err = fmt.Printf("ready: %s, %s\n", l.CLI, l.CLI.Path)
	return errors.Join(err, l.Close())
}
