// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package mutants

import (
	"errors"
	"os"
	"syscall"
)

// hold locks a folder until release, or until this program ends. free is false if
// another one holds it.
func hold(dir string) (release func(), free bool, err error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, false, err
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if err != nil && !errors.Is(err, syscall.EWOULDBLOCK) {
		_ = f.Close()
		return nil, false, err
	}
	return func() { _ = f.Close() }, err == nil, nil
}
