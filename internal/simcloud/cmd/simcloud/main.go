// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

// Command simcloud serves a simulated cloud on a loopback address or a unix
// socket.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/alecthomas/kong"
)

// commands are the commands of the program.
type commands struct {
	Serve serveCommand `cmd:"" help:"Serve a simulated cloud until interrupted."`
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "simcloud:", err)
		os.Exit(1)
	}
}

// run parses arguments and runs the command until it ends or ctx is done.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	var cli commands
	helped := false
	parser, err := kong.New(&cli, kong.Name("simcloud"),
		kong.Description("A simulated cloud with the habits of Azure's network service."),
		kong.Writers(stdout, stderr), kong.Exit(func(int) { helped = true }),
		kong.BindTo(ctx, (*context.Context)(nil)))
	if err != nil {
		return fmt.Errorf("command line: %w", err)
	}
	parsed, err := parser.Parse(args)
	if helped {
		return nil
	}
	if err != nil {
		return err
	}
	return parsed.Run(streams{stdout, stderr})
}

// streams are where a command writes.
type streams struct{ out, err io.Writer }
