// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package command

import (
	"context"
	"errors"

	"github.com/tfweaver/tfweaver/internal/coordinator/client"
	"github.com/tfweaver/tfweaver/internal/coordinator/embedded"
	tfweaver "github.com/tfweaver/tfweaver/internal/version"
)

// dial reaches the coordinator at an address, or the one of this user and
// machine, which is started if need be.
func (a *App) dial(ctx context.Context, address string) (*client.Client, error) {
	if address == "" {
		conn, err := embedded.Connect(ctx, a.embedded())
		return conn, wrapConnect("", err)
	}
	conn, err := client.Dial(ctx, address)
	return conn, wrapConnect(address, err)
}

// find is dial for those who only ask: nil when nothing was ever coordinated
// here, so that there is nothing to ask about.
func (a *App) find(ctx context.Context, address string) (*client.Client, error) {
	var (
		conn *client.Client
		err  error
	)
	if address == "" {
		conn, err = embedded.Resume(ctx, a.embedded())
	} else {
		conn, err = client.Dial(ctx, address)
	}
	if errors.Is(err, embedded.ErrNone) {
		return nil, nil
	}
	if err != nil {
		return nil, &connectError{Address: address, Err: err, Asking: true}
	}
	return conn, nil
}

func (a *App) embedded() embedded.Options {
	return embedded.Options{Executable: a.Self, Version: tfweaver.Version}
}

func wrapConnect(address string, err error) error {
	if err == nil {
		return nil
	}
	return &connectError{Address: address, Err: err}
}
