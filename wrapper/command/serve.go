// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package command

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"time"

	"github.com/tfweaver/tfweaver/internal/coordinator/embedded"
	"github.com/tfweaver/tfweaver/internal/coordinator/server"
	tfweaver "github.com/tfweaver/tfweaver/internal/version"
	"github.com/tfweaver/tfweaver/wrapper/arguments"
)

// serveError is a coordinator that could not be run.
type serveError struct{ Err error }

func (e *serveError) Error() string { return e.Err.Error() }
func (e *serveError) Unwrap() error { return e.Err }

// refuseWithin is how long a daemon waits for a journal that another process
// leads: one that is just ending lets go of it at once.
const refuseWithin = time.Second

// serve runs the coordinator until it is told to end, or until nobody has used
// it for long enough.
func (a *App) serve(ctx context.Context, c serveCommand) error {
	if !c.Embedded && c.Listen == "" {
		return &arguments.UsageError{Name: "--listen", Reason: "name where to listen, such as unix:///run/tfweaver/socket or tcp://HOST:PORT"}
	}
	var token string // of the environment: a supervisor may keep it there
	if onNetwork(c.Listen) && c.TokenFile == "" {
		token = a.Env.Get(arguments.TokenVariable)
	}
	if !c.Embedded {
		if err := c.secured(a.System.Host, token); err != nil {
			return err
		}
	}
	if err := a.lead(ctx, c, token); err != nil {
		return &serveError{err}
	}
	return nil
}

func (a *App) lead(ctx context.Context, c serveCommand, token string) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		select {
		case <-a.Signals:
			cancel()
		case <-ctx.Done():
		}
	}()
	if c.Embedded {
		return embedded.Serve(ctx, embedded.Options{
			Dir: c.Dir, IdleExit: c.IdleExit, Version: tfweaver.Version, Logger: serveLog(a.Stderr),
		})
	}
	dir := c.Dir
	if dir == "" {
		state, err := embedded.DefaultDir()
		if err != nil {
			return fmt.Errorf("find a folder for the journal: %w; name one with --dir", err)
		}
		// Apart from the embedded coordinator's, which leads its own journal.
		dir = filepath.Join(state, "daemon")
	}
	return server.Run(ctx, server.Config{
		Listen: c.Listen, Security: server.Security{CertFile: c.TLSCert, KeyFile: c.TLSKey, TokenFile: c.TokenFile, Token: token}, Dir: dir, LeadWithin: refuseWithin, IdleExit: c.IdleExit, Version: tfweaver.Version, Logger: serveLog(a.Stderr),
		Ready: func(address string, epoch uint64) error {
			_, err := fmt.Fprintf(a.Stderr, "Serving %s, journal in %s (epoch %d). Ctrl-C to end.\n%s", address, dir, epoch, c.invitation(address, a.System.Host))
			return err
		},
	})
}

// serveLog is the coordinator's log. It has no secrets in it, and operators
// want it from the first line on.
func serveLog(stderr io.Writer) *slog.Logger {
	return slog.New(slog.NewTextHandler(stderr, nil))
}
