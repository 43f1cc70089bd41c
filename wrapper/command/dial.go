// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package command

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/tfweaver/tfweaver/internal/coordinator/client"
	"github.com/tfweaver/tfweaver/internal/coordinator/embedded"
	"github.com/tfweaver/tfweaver/internal/coordinator/server"
	tfweaver "github.com/tfweaver/tfweaver/internal/version"
	"github.com/tfweaver/tfweaver/wrapper/arguments"
)

// dial reaches the coordinator that is named, or the one of this user and
// machine, which is started if need be. In CI the latter must be asked for.
func (a *App) dial(ctx context.Context, w arguments.Weaver) (*client.Client, error) {
	if w.Coordinator == "" {
		if inCI(a.Env) && !w.Local {
			return nil, &localError{}
		}
		conn, err := embedded.Connect(ctx, a.embedded())
		return conn, wrapConnect("", err)
	}
	conn, err := a.reach(ctx, w)
	return conn, wrapConnect(w.Coordinator, err)
}

// find is dial for those who only ask: nil when nothing was ever coordinated
// here, so that there is nothing to ask about.
func (a *App) find(ctx context.Context, w arguments.Weaver) (*client.Client, error) {
	var (
		conn *client.Client
		err  error
	)
	if w.Coordinator == "" {
		conn, err = embedded.Resume(ctx, a.embedded())
	} else {
		conn, err = a.reach(ctx, w)
	}
	if errors.Is(err, embedded.ErrNone) {
		return nil, nil
	}
	if err != nil {
		return nil, &connectError{Address: w.Coordinator, Err: err, Asking: true}
	}
	return conn, nil
}

// reach connects to a coordinator that is named.
func (a *App) reach(ctx context.Context, w arguments.Weaver) (*client.Client, error) {
	if !onNetwork(w.Coordinator) {
		return client.Dial(ctx, w.Coordinator)
	}
	if _, err := server.HostPort(w.Coordinator); err != nil {
		return nil, fmt.Errorf("%q %w: it has to name a host and a port, as in tcp://HOST:PORT", w.Coordinator, client.ErrAddress)
	}
	token, err := a.asked(w)
	if err != nil {
		return nil, err
	}
	authority := a.path(w.CAFile)
	if authority != "" {
		if _, err := os.Stat(authority); err != nil {
			return nil, &authorityError{Path: authority, From: lineOf(w, "ca-file", "ca_file"), Err: reasonOf(err)}
		}
	}
	return client.DialWithCredentials(ctx, w.Coordinator, client.Credentials{CAFile: authority, Token: token})
}

// authorityError is a file with the certificates to trust that is not there, or
// not for this user.
type authorityError struct {
	// From is what names it.
	Path, From string
	Err        error
}

func (e *authorityError) Error() string { return fmt.Sprintf("%s cannot be read: %v", e.Path, e.Err) }
func (e *authorityError) Unwrap() error { return e.Err }

func (a *App) embedded() embedded.Options {
	return embedded.Options{Executable: a.Self, Version: tfweaver.Version}
}

func wrapConnect(address string, err error) error {
	if err == nil {
		return nil
	}
	return &connectError{Address: address, Err: err}
}
