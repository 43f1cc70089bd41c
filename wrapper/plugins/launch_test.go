// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package plugins

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc/health/grpc_health_v1"

	"github.com/tfweaver/tfweaver/wrapper/plugins/plugintest"
)

// lockedBuffer is a buffer that a logger and a test share.
type lockedBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// eventually waits for a condition; the deadline is for a broken test only.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if holds() {
			return
		}
	}
	t.Fatalf("never happened: %s", what)
}

func TestLaunch(t *testing.T) {
	t.Parallel()
	for _, protocol := range []int{5, 6} {
		log := &lockedBuffer{}
		p, err := Launch(t.Context(), Command{
			Path:   plugintest.Executable(t),
			Env:    plugintest.Env(protocol, ""),
			Dir:    t.TempDir(),
			Logger: NewLogger(log, "debug"),
		})
		if err != nil {
			t.Fatal(err)
		}
		if p.Protocol() != protocol || p.PID() == 0 || p.PID() == os.Getpid() || p.Exited() {
			t.Errorf("protocol %d, pid %d, exited %v", p.Protocol(), p.PID(), p.Exited())
		}
		health := grpc_health_v1.NewHealthClient(p.Conn())
		if _, err := health.Check(t.Context(), &grpc_health_v1.HealthCheckRequest{Service: "plugin"}); err != nil {
			t.Errorf("call the provider: %v", err)
		}
		p.Kill()
		p.Kill()
		if !p.Exited() {
			t.Error("process lives after Kill")
		}
		if strings.Contains(log.String(), "gracefully") {
			t.Errorf("process was ended by force:\n%s", log)
		}
		if !strings.Contains(log.String(), "plugin process exited") {
			t.Errorf("plugin log is lost:\n%s", log)
		}
	}
}

func TestLaunchFailures(t *testing.T) {
	t.Parallel()
	script := writeFile(t, filepath.Join(t.TempDir(), "broken"),
		"#!/bin/sh\necho 'panic: no luck' >&2\necho 'goroutine 1' >&2\nexit 2\n", 0o700)
	for name, path := range map[string]string{"missing": filepath.Join(t.TempDir(), "none"), "broken": script} {
		_, err := Launch(t.Context(), Command{Path: path})
		var launchErr *LaunchError
		if !errors.As(err, &launchErr) || launchErr.Path != path {
			t.Errorf("%s: got error %v, want a LaunchError", name, err)
		}
		if name == "broken" && launchErr.Trace != "panic: no luck\ngoroutine 1" {
			t.Errorf("trace is %q", launchErr.Trace)
		}
	}
}

// A provider that says nothing is given up in time, with what it had to say.
func TestLaunchHangs(t *testing.T) {
	t.Parallel()
	script := writeFile(t, filepath.Join(t.TempDir(), "hangs"), "#!/bin/sh\necho 'waiting for the moon' >&2\nexec sleep 600\n", 0o700)
	_, err := Launch(t.Context(), Command{Path: script, StartTimeout: time.Second})
	if err == nil || !strings.Contains(err.Error(), "timeout") || !strings.Contains(err.Error(), "waiting for the moon") {
		t.Errorf("error %v", err)
	}
}

func TestLaunchIsAbandoned(t *testing.T) {
	t.Parallel()
	script := writeFile(t, filepath.Join(t.TempDir(), "slow"), "#!/bin/sh\nexec sleep 600\n", 0o700)
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(100*time.Millisecond, cancel)
	if _, err := Launch(ctx, Command{Path: script}); err == nil {
		t.Error("a provider that says nothing was started")
	}
}

func TestLaunchHidesReattach(t *testing.T) {
	t.Parallel()
	cmd := Command{Path: "p", Env: []string{"A=1", "TF_REATTACH_PROVIDERS={}", "B=2"}}.build(t.Context())
	if got := strings.Join(cmd.Env, " "); got != "A=1 B=2" {
		t.Errorf("environment is %q", got)
	}
}

func TestTraceWriter(t *testing.T) {
	t.Parallel()
	w := &traceWriter{}
	for _, part := range []string{
		"starting\npan", "ic: boom\n", `{"@level":"debug","@message":"other"}` + "\n", "\ngorout", "ine 7:\n", "cut off",
	} {
		if n, err := w.Write([]byte(part)); n != len(part) || err != nil {
			t.Fatalf("wrote %d of %d: %v", n, len(part), err)
		}
	}
	if got, want := w.String(), "panic: boom\n\ngoroutine 7:"; got != want {
		t.Errorf("trace is %q, want %q", got, want)
	}
}

func TestTraceWriterIsBounded(t *testing.T) {
	t.Parallel()
	w := &traceWriter{}
	line := []byte("panic: " + strings.Repeat("x", 1000) + "\n")
	for range 2 * maxTrace / len(line) {
		_, _ = w.Write(line)
	}
	_, _ = w.Write(bytes.Repeat([]byte("y"), 4*maxTrace))
	if n := len(w.String()); n > maxTrace || n < maxTrace/2 {
		t.Errorf("kept %d bytes", n)
	}
	if n := len(w.line); n > 5*maxTrace {
		t.Errorf("a line without end holds %d bytes", n)
	}
}
