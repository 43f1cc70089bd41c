// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package statelock

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"

	"github.com/tfweaver/tfweaver/wrapper/arguments"
	"github.com/tfweaver/tfweaver/wrapper/terraform"
)

// Lock is what the holder of a lock has said about itself. Any field may be
// empty.
type Lock struct {
	// ID is what "force-unlock" takes.
	ID string `json:"ID"`
	// Who is user@host.
	Who string `json:"Who"`
	// Operation is what the holder does, as OperationTypeApply.
	Operation string `json:"Operation"`
	// Info is free text: a wrapper or a server puts there what for, and a link.
	Info string `json:"Info"`
	// Version is that of the holder's CLI.
	Version string `json:"Version"`
	// Path is that of the state, as the holder calls it.
	Path string `json:"Path"`
	// Created is when the holder got the lock; zero if it does not say.
	Created time.Time `json:"Created"`
}

// The two ways in which there is no holder to tell.
var (
	// ErrUnknown means that this backend cannot be asked, or gave no answer. The
	// text of the error is a sentence for the user: why, and where to look.
	ErrUnknown = errors.New("it cannot be found out who holds the lock of the state")
	// ErrFree means that nobody holds the lock now.
	ErrFree = errors.New("nobody holds the lock of the state now")
)

// unknown is an ErrUnknown with a sentence of its own.
type unknown struct{ sentence string }

func (u unknown) Error() string { return u.sentence }

func (u unknown) Is(target error) bool { return target == ErrUnknown }

func unknownf(format string, args ...any) error { return unknown{fmt.Sprintf(format, args...)} }

// Find asks who holds the lock of the state that w works on. statePath is the
// value of -state, or that of -state-out if there is one; env is the environment
// of the CLI. The error is ErrUnknown, ErrFree, or that the folder or what "init"
// left there cannot be read; none holds a secret. It takes one round trip as a
// rule, and half a minute at most, whatever becomes of ctx; see the package for why.
func Find(ctx context.Context, w terraform.Workdir, statePath string, env arguments.Environment) (Lock, error) {
	if err := ctx.Err(); err != nil {
		return Lock{}, err
	}
	switch w.Backend {
	case "local":
		file, err := w.LocalState(statePath)
		if err != nil {
			return Lock{}, err
		}
		return findLocal(ctx, file)
	case "http":
		settings, err := w.BackendSettings()
		if err != nil {
			return Lock{}, err
		}
		return findHTTP(ctx, settings, env)
	default:
		settings, err := w.BackendSettings()
		if err != nil {
			return Lock{}, err
		}
		return Lock{}, elsewhere(w, settings)
	}
}

// Bounds of what is taken from a holder.
const (
	// maxLock is that of all the data, in bytes.
	maxLock = 64 << 10
	// maxField is that of one field, in characters.
	maxField = 512
)

// decode reads the data of a holder. They must name somebody.
func decode(text []byte) (Lock, error) {
	var l Lock
	if err := json.Unmarshal(text, &l); err != nil {
		return Lock{}, errors.New("the data of the holder are no lock info")
	}
	for _, field := range []*string{&l.ID, &l.Who, &l.Operation, &l.Info, &l.Version, &l.Path} {
		*field = printable(*field)
	}
	if l.ID == "" && l.Who == "" && l.Info == "" {
		return Lock{}, errors.New("the data of the holder are empty")
	}
	return l, nil
}

// printable leaves out what would move the cursor or colour a terminal, and all
// that is too long to be read.
func printable(text string) string {
	text = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case unicode.IsControl(r), unicode.Is(unicode.Cf, r), r == unicode.ReplacementChar:
			return -1
		}
		return r
	}, text)
	if all := []rune(text); len(all) > maxField {
		return string(all[:maxField-1]) + "…"
	}
	return text
}
