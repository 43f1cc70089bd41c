// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync"
	"time"

	"golang.org/x/term"

	"github.com/tfweaver/tfweaver/internal/version"
	"github.com/tfweaver/tfweaver/wrapper/arguments"
	"github.com/tfweaver/tfweaver/wrapper/identity"
	"github.com/tfweaver/tfweaver/wrapper/terraform"
	"github.com/tfweaver/tfweaver/wrapper/views"
)

// Exit codes beside those of Terraform, which are passed on as they are: 0, 1
// for an error, 2 for "-detailed-exitcode" with changes.
const (
	// ExitError is Terraform's own code for an error. A refusal is one.
	ExitError = 1
	// ExitRefused is used for a refusal with -weaver-exit-codes: "try later",
	// EX_TEMPFAIL of sysexits.
	ExitRefused = 75
	// ExitSetup is used for trouble before Terraform starts: EX_CONFIG of
	// sysexits.
	ExitSetup = 78
)

// App is everything that a run takes from its surroundings.
type App struct {
	// Args are the arguments after the program's name.
	Args []string
	Env  arguments.Environment
	// Dir is the current folder, absolute.
	Dir string
	// Self is the path of this program.
	Self   string
	Stdin  io.Reader
	Stdout io.Writer
	Stderr io.Writer
	System identity.System
	// Signals are the signals that this process gets.
	Signals <-chan os.Signal
	// Listen registers Signals for the signals of this process once more; nil
	// where it is not registered.
	Listen func()
	// Replace runs a program in place of this one. It returns only on an
	// error, or where the operating system has no such thing.
	Replace func(path string, args, env []string) (int, error)
	Now     func() time.Time
	// Thrift makes this process keep less garbage; nil where it is shared with
	// other work. It is called before a run is coordinated.
	Thrift func()
}

// Main runs the program with the process's own surroundings and returns its
// exit code.
func Main() int {
	dir, err := os.Getwd()
	if err != nil {
		dir = "."
	}
	self, err := os.Executable()
	if err != nil {
		self = os.Args[0]
	}
	// Room for what comes while nobody listens, such as between two runs of
	// the CLI.
	signals := make(chan os.Signal, 8)
	wanted := terraform.Signals()
	listen := func() { signal.Notify(signals, wanted...) }
	app := &App{
		Args: os.Args[1:], Env: os.Environ(), Dir: dir, Self: self,
		Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
		System: identity.Current(), Signals: signals, Listen: listen, Now: time.Now,
		Replace: func(path string, args, env []string) (int, error) {
			signal.Reset()
			return terraform.Exec(path, args, env)
		},
		Thrift: thrift,
	}
	listen()
	terraform.KeepBrokenPipes()
	return app.Run(context.Background())
}

// Run carries the command line out and returns the exit code.
func (a *App) Run(ctx context.Context) int {
	a.Env = detached(a.Env)
	inv, err := arguments.Parse(a.Args, a.Env)
	if err != nil {
		return a.fail(inv, err)
	}
	if inv.Weaver.Version {
		_, _ = fmt.Fprintf(a.Stdout, "tfweaver %s\n", version.Version)
		return 0
	}
	if inv.Own && inv.Command == "doctor" { // it tells of broken settings itself
		return a.own(ctx, inv)
	}
	shared, err := a.configure(&inv)
	if err != nil {
		return a.fail(inv, err)
	}
	if inv.Own {
		return a.own(ctx, inv)
	}
	binary, err := terraform.Find(a.Env, a.Self)
	if err != nil {
		return a.fail(inv, err)
	}
	if section := addition(inv); section != "" {
		return a.help(ctx, inv, binary, section)
	}
	if !plainly(inv) {
		code, err := a.coordinate(ctx, inv, shared, binary)
		switch {
		case errors.Is(err, errNothingToCoordinate):
		case err != nil:
			return a.fail(inv, err)
		default:
			return code
		}
	}
	a.hint(inv)
	code, err := a.Replace(binary.Path, inv.Argv(), terraform.Handover(a.Env))
	if err != nil {
		return a.fail(inv, terraform.Unrunnable(binary.Path, err))
	}
	return code
}

// interruptible is a context that ends with the first signal, for what is done
// while no CLI runs that would take it. stop ends the listening.
func (a *App) interruptible(ctx context.Context) (_ context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		select {
		case <-a.Signals:
			cancel(errInterrupted)
		case <-done:
		}
	}()
	return ctx, sync.OnceFunc(func() {
		close(done)
		<-ended
		cancel(nil)
	})
}

// plainly says whether a command is left to the CLI: because it is told so,
// or because it neither reads nor changes the cloud.
func plainly(inv arguments.Invocation) bool {
	return inv.Weaver.Off || inv.Help() || !inv.RunsProviders()
}

// fail shows an error that came before Terraform started.
func (a *App) fail(inv arguments.Invocation, err error) int {
	problem, code := explainTo(inv, err)
	a.view(inv, inv.Options(a.Env)).Problem(problem)
	return code
}

// view is how events are shown: as JSON where Terraform streams JSON. The others of
// its commands print one document, which a line of ours would spoil.
func (a *App) view(inv arguments.Invocation, opts arguments.Options) views.View {
	view, _ := a.views(inv, opts)
	return view
}

// views also returns the printer that Terraform's own lines must go through.
func (a *App) views(inv arguments.Invocation, opts arguments.Options) (views.View, *views.Printer) {
	people := views.NewHuman(views.NewPrinter(a.Stderr), views.Style{
		Width:      columns(a.Stderr),
		Colour:     isTerminal(a.Stderr) && !opts.NoColor && a.Env.Get("NO_COLOR") == "",
		Automation: a.Env.Get("TF_IN_AUTOMATION") != "",
	})
	if !opts.JSON || !inv.RunsProviders() {
		return people, nil
	}
	lines := views.NewPrinter(a.Stdout)
	return views.NewJSON(lines, people, a.Now), lines
}

func isTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// columns is the width of a terminal; 0 for any other stream.
func columns(stream any) int {
	f, ok := stream.(*os.File)
	if !ok {
		return 0
	}
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0
	}
	return width
}
