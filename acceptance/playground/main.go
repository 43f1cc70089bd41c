// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

// Command playground makes build/playground, from which the examples are tried by
// hand. "make playground" compiles the programs and runs it. It starts nothing.
//
// PLAYGROUND_LISTEN is where the simulated cloud shall listen (127.0.0.1:18080).
package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/tfweaver/tfweaver/acceptance/lab"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, cmp.Or(os.Getenv("PLAYGROUND_LISTEN"), "127.0.0.1:18080"), os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "playground:", err)
		os.Exit(1)
	}
}

// run makes the playground and says how to enter it.
func run(ctx context.Context, listen string, out io.Writer) error {
	module, err := lab.ModuleRoot(ctx)
	if err != nil {
		return err
	}
	p, err := lab.NewPlayground(ctx, module, listen, func(format string, args ...any) { fmt.Fprintf(out, format+"\n", args...) })
	if err != nil {
		return err
	}
	if err := p.Make(); err != nil {
		return err
	}
	exports, err := os.ReadFile(p.Env())
	if err != nil {
		return fmt.Errorf("read what was written: %w", err)
	}
	_, err = fmt.Fprintf(out, "The playground is ready, with %s. Start the simulated cloud in a terminal of its own:\n\n  %s\n\n"+
		"and in every other terminal:\n\n  . %s\n\nwhich is\n\n%s", p.CLI, relative(module, p.Cloud()), relative(module, p.Env()), exports)
	return err
}

// relative is a path as it is typed in the checkout.
func relative(module, path string) string {
	if short, err := filepath.Rel(module, path); err == nil {
		return short
	}
	return path
}
