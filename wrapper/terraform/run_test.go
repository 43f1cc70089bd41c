// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

//go:build !windows

package terraform

import (
	"bytes"
	"context"
	"errors"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
)

func fake(t *testing.T, args ...string) Process {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return Process{Path: self, Args: args, Env: append(os.Environ(), fakeVariable+"=1")}
}

func TestRunReturnsTheExitCode(t *testing.T) {
	t.Parallel()
	for _, want := range []int{0, 1, 2, 77} {
		got, err := fake(t, "exit", strconv.Itoa(want)).Run(t.Context())
		if err != nil || got != want {
			t.Errorf("exit code %d, %v; want %d", got, err, want)
		}
	}
}

func TestRunOfAKilledCLI(t *testing.T) {
	t.Parallel()
	code, err := fake(t, "die").Run(t.Context())
	if err != nil || code != 128+int(syscall.SIGKILL) {
		t.Errorf("exit code %d, %v; want that of a killed process", code, err)
	}
}

func TestRunOfNothing(t *testing.T) {
	t.Parallel()
	p := Process{Path: "/nonexistent/terraform"}
	if _, err := p.Run(t.Context()); err == nil {
		t.Error("a CLI that is not there was run")
	}
}

// ready is a writer that tells when a text was written.
type ready struct {
	mu   sync.Mutex
	buf  bytes.Buffer
	text string
	seen chan struct{}
	once sync.Once
}

func newReady(text string) *ready { return &ready{text: text, seen: make(chan struct{})} }

func (r *ready) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.buf.Write(p)
	if strings.Contains(r.buf.String(), r.text) {
		r.once.Do(func() { close(r.seen) })
	}
	return len(p), nil
}

func TestRunPassesASignalOnOnce(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		given os.Signal
		want  string
	}{{syscall.SIGINT, "got interrupt"}, {syscall.SIGTERM, "got terminated"}, {syscall.SIGHUP, "got terminated"}} {
		signals := make(chan os.Signal, 1)
		out := newReady("ready\n")
		p := fake(t, "signals")
		p.Signals, p.Stdout = signals, out
		go func() {
			<-out.seen
			signals <- tt.given
		}()
		code, err := p.Run(t.Context())
		if err != nil || code != 11 {
			t.Errorf("%v: exit code %d, %v; want 11 for one signal", tt.given, code, err)
		}
		if !strings.Contains(out.buf.String(), tt.want) {
			t.Errorf("%v: output %q, want %q", tt.given, out.buf.String(), tt.want)
		}
	}
}

func TestRunStopsOnceWhenTheContextEnds(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	out := newReady("ready\n")
	p := fake(t, "signals")
	p.Stdout = out
	go func() {
		<-out.seen
		cancel()
	}()
	if code, err := p.Run(ctx); err != nil || code != 11 {
		t.Errorf("exit code %d, %v; want 11 for one signal", code, err)
	}
}

func TestOutput(t *testing.T) {
	t.Parallel()
	out, err := fake(t, "echo", "a", "b").Output(t.Context(), 100)
	if err != nil || string(out) != "a b\n" {
		t.Errorf("output %q, %v", out, err)
	}
	if _, err := fake(t, "echo", "a", "b").Output(t.Context(), 3); err == nil {
		t.Error("output over the limit is accepted")
	}
	_, err = fake(t, "fail").Output(t.Context(), 100)
	var failed *OutputError
	if !errors.As(err, &failed) || failed.ExitCode != 3 || !strings.Contains(failed.Error(), "something is wrong") {
		t.Errorf("error %v, want an *OutputError with the message", err)
	}
}

func TestVersion(t *testing.T) {
	t.Parallel()
	v, err := fake(t).Version(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if v.String() != "1.11.4" {
		t.Errorf("version %s", v)
	}
}
