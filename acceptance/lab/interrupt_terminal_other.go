// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

//go:build !linux

package lab

import (
	"context"
	"errors"
)

// Keys that a terminal turns into signals for its foreground process group.
const (
	CtrlC         = "\x03"
	CtrlZ         = "\x1a"
	CtrlBackslash = "\x1c"
)

// Terminal is a shell in a terminal of its own. There are none but on Linux.
type Terminal struct{ *Run }

// StartInTerminal fails: terminals are opened on Linux only.
func (w *Workspace) StartInTerminal(context.Context, bool, string, ...string) (*Terminal, error) {
	return nil, errors.New("open a terminal: not on this system")
}

// Type types on the terminal.
func (t *Terminal) Type(string) error { return errors.ErrUnsupported }

// HangUp closes the terminal, as closing its window does.
func (t *Terminal) HangUp() error { return errors.ErrUnsupported }

// WaitSilent waits for the end of the shell.
func (t *Terminal) WaitSilent() error { return t.Wait() }
