// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package command

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/alecthomas/kong"

	"github.com/tfweaver/tfweaver/wrapper/arguments"
)

// ownCommands are the commands that Terraform does not have.
type ownCommands struct {
	Serve   serveCommand   `cmd:"" help:"Run the coordinator as a daemon."`
	Status  statusCommand  `cmd:"" help:"List sessions and what they are doing."`
	Why     whyCommand     `cmd:"" help:"Explain what a transaction waits for, or why it was refused."`
	Locks   locksCommand   `cmd:"" help:"List the held locks."`
	Report  reportCommand  `cmd:"" help:"Tell what was delayed or refused, or would have been."`
	Resolve resolveCommand `cmd:"" help:"Settle a call whose outcome was lost."`
	Doctor  doctorCommand  `cmd:"" help:"Look at everything a run depends on, and say what to do."`
}

// reach stands in the help of the commands that ask a coordinator. The option
// itself is read before, with the others of its kind.
type reach struct {
	Coordinator string `name:"weaver-coordinator" help:"unix:///PATH or tcp://HOST:PORT of a \"tfweaver serve\"; by default the one that .tfweaver.hcl names, else that of this user and machine." placeholder:"ADDR"`
}

type serveCommand struct {
	Listen    string        `help:"Where to listen: unix:///PATH, or tcp://HOST:PORT with a certificate and a token." placeholder:"ADDR"`
	TLSCert   string        `help:"Certificate to serve tcp:// with, PEM." name:"tls-cert" type:"path" placeholder:"FILE"`
	TLSKey    string        `help:"Private key of the certificate, PEM." name:"tls-key" type:"path" placeholder:"FILE"`
	TokenFile string        `help:"File with the token that runs must show." name:"token-file" type:"path" placeholder:"FILE"`
	Dir       string        `help:"Folder of the journal; the user's state folder by default." type:"path"`
	IdleExit  time.Duration `help:"End after no session was open for so long; 0 means never." default:"0s"`
	Embedded  bool          `help:"Serve this user on this machine, as a run starts it by itself." hidden:""`
}

type statusCommand struct {
	reach

	JSON bool `help:"Print JSON." name:"json"`
}

type whyCommand struct {
	reach

	ID   string `arg:"" help:"The transaction, such as t12."`
	JSON bool   `help:"Print JSON." name:"json"`
}

type locksCommand struct {
	reach

	JSON bool `help:"Print JSON." name:"json"`
}

type reportCommand struct {
	reach

	JSON bool `help:"Print JSON." name:"json"`
}

type resolveCommand struct {
	reach

	ID     string `arg:"" help:"The transaction whose outcome is not known."`
	Reason string `help:"How you know; it is recorded with your name." required:"" placeholder:"TEXT"`
	Exists bool   `help:"The object is there (this or -gone)." xor:"fate" required:""`
	Gone   bool   `help:"The object is not there (this or -exists)." xor:"fate" required:""`
}

type doctorCommand struct {
	reach

	JSON bool `help:"Print JSON." name:"json"`
}

// own carries out one of tfweaver's own commands.
func (a *App) own(ctx context.Context, inv arguments.Invocation) int {
	var commands ownCommands
	exited := false
	parser, err := kong.New(&commands,
		kong.Name("tfweaver"), kong.Writers(a.Stdout, a.Stderr),
		kong.Description("Commands of tfweaver itself. Everything else is passed to Terraform."),
		kong.Help(printHelp),
		kong.Exit(func(int) { exited = true }),
	)
	if err != nil {
		return a.fail(inv, err)
	}
	parsed, err := parser.Parse(doubleDashes(append([]string{inv.Command}, inv.Args...)))
	if exited { // it was asked for help, and has given it
		return 0
	}
	if err != nil {
		return a.fail(inv, &arguments.UsageError{Name: inv.Command, Reason: err.Error()})
	}
	err = a.dispatch(ctx, parsed.Selected().Name, &commands, inv)
	switch {
	case errors.Is(err, errUnwell):
		return ExitError
	case err != nil:
		return a.fail(inv, err)
	default:
		return 0
	}
}

func (a *App) dispatch(ctx context.Context, name string, c *ownCommands, inv arguments.Invocation) error {
	w := inv.Weaver
	switch name {
	case "serve":
		return a.serve(ctx, c.Serve)
	case "status":
		return a.status(ctx, w, c.Status)
	case "why":
		return a.why(ctx, w, c.Why)
	case "locks":
		return a.locks(ctx, w, c.Locks)
	case "report":
		return a.report(ctx, w, c.Report)
	case "doctor":
		return a.doctor(ctx, inv, c.Doctor)
	default:
		return a.resolve(ctx, w, c.Resolve)
	}
}

// doubleDashes lets options be written with one dash, as Terraform's are.
func doubleDashes(args []string) []string {
	out := slices.Clone(args)
	for i, arg := range out {
		if arg == "--" {
			break
		}
		if len(arg) > 2 && arg[0] == '-' && arg[1] != '-' {
			out[i] = "-" + arg
		}
	}
	return out
}
