// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package lab

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
)

// Lab is what all experiments of one program share. It is safe for concurrent
// use. Close it to remove its files.
type Lab struct {
	Binaries
	CLI CLI
	// Module is the folder of the project's go.mod.
	Module    string
	dir       string
	templates templates
}

// Open compiles the project and finds the CLI. It may take minutes on a fresh
// machine and says so through progress, which may be nil.
func Open(ctx context.Context, progress Progress) (l *Lab, err error) {
	if progress == nil {
		progress = func(string, ...any) {}
	}
	module, err := ModuleRoot(ctx)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "tfw-lab-")
	if err != nil {
		return nil, fmt.Errorf("open the lab: %w", err)
	}
	defer func() {
		if err != nil {
			os.RemoveAll(dir) //nolint:errcheck // the first error matters
		}
	}()
	l = &Lab{Module: module, dir: dir}
	if l.Binaries, err = compile(ctx, module, filepath.Join(dir, "bin"), progress); err != nil {
		return nil, err
	}
	for protocol := range l.Provider {
		if err := mirror(l.mirror(protocol), l.offered(protocol)); err != nil {
			return nil, err
		}
	}
	if l.CLI, err = FindCLI(ctx, module, progress); err != nil {
		return nil, err
	}
	return l, nil
}

// mirror is the filesystem mirror that offers the cloud's provider built for a
// protocol, and the fixture providers.
func (l *Lab) mirror(protocol int) string {
	return filepath.Join(l.dir, "mirror"+strconv.Itoa(protocol))
}

// Close removes the lab's files. Experiments must be closed before.
func (l *Lab) Close() error {
	if err := os.RemoveAll(l.dir); err != nil {
		return fmt.Errorf("close the lab: %w", err)
	}
	return nil
}
