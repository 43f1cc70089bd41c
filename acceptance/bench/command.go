// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// grace is how long a program that was asked to end may take, before it is killed:
// those of the acceptance suite stop all that they have started.
const grace = 30 * time.Second

// goTool runs the go command in the present folder, which is that of the module. It
// shows what the command prints.
func (b *bench) goTool(ctx context.Context, args ...string) error {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Stdout, cmd.Stderr = b.stdout, b.stderr
	cmd.Env = append(os.Environ(), "BENCH_JSON="+b.out, "WEAVER_BENCH_JSON="+filepath.Join(b.out, socketFile))
	cmd.Env = append(cmd.Env, b.environment...)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = grace
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("go %s: %w", strings.Join(args, " "), err)
	}
	return nil
}

// with is the bench with a setting for the programs that it runs.
func (b *bench) with(setting string) *bench {
	set := *b
	set.environment = append(slices.Clone(b.environment), setting)
	return &set
}

// benchmarks runs the benchmarks of a package that write a file of figures.
func (b *bench) benchmarks(ctx context.Context, pattern, file, pkg string, more ...string) error {
	// What an earlier run has left is no result of this one.
	if err := os.Remove(filepath.Join(b.out, file)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("begin afresh: %w", err)
	}
	args := []string{"test", "-p", "2", "-count=1", "-timeout", "60m", "-run", "^$", "-bench", pattern}
	if b.quick {
		args = append(args, "-short")
	}
	return b.goTool(ctx, append(append(args, more...), pkg)...)
}
