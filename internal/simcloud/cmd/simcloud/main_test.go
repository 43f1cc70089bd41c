// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/tfweaver/tfweaver/internal/simcloud/activity"
	"github.com/tfweaver/tfweaver/internal/simcloud/arm"
	"github.com/tfweaver/tfweaver/internal/simcloud/client"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// serve runs the command until stop is called.
func serve(t *testing.T, args ...string) (endpoint string, stop func() error) {
	t.Helper()
	ready := filepath.Join(t.TempDir(), "ready")
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		done <- run(ctx, append([]string{"serve", "--ready-file", ready}, args...), &bytes.Buffer{}, &bytes.Buffer{})
	}()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		url, err := os.ReadFile(ready)
		if err == nil {
			return string(url), func() error { cancel(); return <-done }
		}
		select {
		case err := <-done:
			t.Fatalf("ended early: %v", err)
		default:
		}
		if time.Now().After(deadline) {
			t.Fatal("not ready after a minute")
		}
	}
}

func put(t *testing.T, cfg client.Config) error {
	t.Helper()
	cfg.PollInterval = time.Millisecond
	c, err := client.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_, err = c.Put(t.Context(), arm.GroupID("sub-1", "g"), arm.Resource{Location: "north"}, "")
	return err
}

func TestServe(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	log, tokens, admin := filepath.Join(dir, "log"), filepath.Join(dir, "tokens"), filepath.Join(dir, "admin")
	if err := errors.Join(os.WriteFile(tokens, []byte("alice=t1\n\n bob=t=2 \n"), 0o600), os.WriteFile(admin, []byte("root\n"), 0o600)); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second run appends to the log of the first
		url, stop := serve(t, "--log", log, "--scale", "0.001", "--seed", "3", "--latency", "resource_group=1s", "--latency", "subnet.delete=2s",
			"--first-call-extra", "alice=4s", "--first-call-extra", "bob=1s", "--supersede", "--throttle", "100", "--quota", "north=20", "--quota", "north/standardBSFamily=4", "--subscription", "sub-1",
			"--subscription", "sub-2", "--token-file", tokens, "--admin-token-file", admin)
		if err := put(t, client.Config{Endpoint: url, Actor: "bob", Token: "t=2"}); err != nil {
			t.Error(err)
		}
		var refused *arm.Error
		if err := put(t, client.Config{Endpoint: url, Actor: "bob", Token: "t1"}); !errors.As(err, &refused) || refused.HTTPStatus != 401 {
			t.Errorf("got %v", err)
		}
		if err := stop(); err != nil {
			t.Error(err)
		}
	}
	events, err := activity.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	understood, err := activity.Pair(events)
	if err != nil || understood.Succeeded() != 2 || len(understood.Refused) != 2 {
		t.Errorf("%+v, %v", understood, err)
	}
}

func TestServeKeepsQuotas(t *testing.T) {
	t.Parallel()
	url, stop := serve(t, "--scale", "0.001", "--subscription", "sub-1", "--quota", "north=3", "--quota", "north/standardBSFamily=1")
	if err := put(t, client.Config{Endpoint: url}); err != nil {
		t.Error(err)
	}
	c, err := client.New(client.Config{Endpoint: url, PollInterval: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for size, wanted := range map[string]bool{"Standard_D4s_v5": false, "Standard_B2s": false, "Standard_D2s_v5": true} {
		id := arm.TopID(arm.VirtualMachine, "sub-1", "g", size)
		_, err := c.Put(t.Context(), id, arm.Resource{Location: "north", Properties: arm.Properties{VMSize: size}}, "")
		var refused *arm.Error
		if errors.As(err, &refused) == wanted || refused != nil && refused.Code != arm.CodeOperationNotAllowed {
			t.Errorf("%s: got %v", size, err)
		}
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
}

// TestServeMeetsFaults loses an answer, and ends although an answer is kept back.
func TestServeMeetsFaults(t *testing.T) {
	t.Parallel()
	log := filepath.Join(t.TempDir(), "log")
	url, stop := serve(t, "--scale", "0.001", "--subscription", "sub-1", "--log", log,
		"--fault", `{"type":"resource_group","actor":"lost","drop_answer":true}`, "--fault", `{"actor":"late","answer_delay":"1h"}`)
	var refused *arm.Error
	if err := put(t, client.Config{Endpoint: url, Actor: "lost"}); err == nil || errors.As(err, &refused) {
		t.Errorf("the answer is not lost: %v", err)
	}
	late := make(chan error, 1)
	go func() { late <- put(t, client.Config{Endpoint: url, Actor: "late", ConflictRetries: 50}) }()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		events, err := activity.ReadFile(log)
		understood, pairErr := activity.Pair(events)
		if err = errors.Join(err, pairErr); err != nil || time.Now().After(deadline) {
			t.Fatalf("%+v, %v", understood, err)
		}
		if len(understood.Operations) == 2 {
			break
		}
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
	if err := <-late; err == nil {
		t.Error("an answer came after all")
	}
}

func TestServeOnAUnixSocket(t *testing.T) {
	t.Parallel()
	dir, err := os.MkdirTemp("", "sim") // a socket path must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	socket := filepath.Join(dir, "s")
	url, stop := serve(t, "--listen", "unix://"+socket, "--scale", "0.001", "--subscription", "sub-1")
	info, err := os.Stat(socket)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	if err := put(t, client.Config{Endpoint: url}); err != nil {
		t.Error(err)
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
}

func TestBadFlags(t *testing.T) {
	t.Parallel()
	empty := filepath.Join(t.TempDir(), "empty")
	nameless := filepath.Join(t.TempDir(), "nameless")
	if err := errors.Join(os.WriteFile(empty, nil, 0o600), os.WriteFile(nameless, []byte("a=b\nsecret\n"), 0o600)); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{},
		{"nonsense"},
		{"serve", "--nonsense"},
		{"serve", "--latency", "disk=1s"},
		{"serve", "--latency", "subnet=long"},
		{"serve", "--quota", "north/none=1"},
		{"serve", "--quota", "north=many"},
		{"serve", "--scale", "0"},
		{"serve", "--fault", `{"type":"public_ip"}`},
		{"serve", "--token-file", empty},
		{"serve", "--token-file", nameless},
		{"serve", "--admin-token-file", empty},
		{"serve", "--token-file", empty + "x"},
		{"serve", "--log", filepath.Join(empty, "x")},
		{"serve", "--ready-file", filepath.Join(empty, "x")},
	} {
		err := run(t.Context(), args, &bytes.Buffer{}, &bytes.Buffer{})
		if err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: got %v", args, err)
		}
	}
}

func TestOnlyLocalAddresses(t *testing.T) {
	t.Parallel()
	for _, address := range []string{"0.0.0.0:0", ":0", "[::]:0", "192.0.2.1:0", "example.org:80"} {
		if err := run(t.Context(), []string{"serve", "--listen", address}, &bytes.Buffer{}, &bytes.Buffer{}); !errors.Is(err, errNotLocal) {
			t.Errorf("%q: got %v", address, err)
		}
	}
	if err := run(t.Context(), []string{"serve", "--listen", "127.0.0.1"}, &bytes.Buffer{}, &bytes.Buffer{}); err == nil {
		t.Error("an address without a port is accepted")
	}
}

func TestHelp(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	if err := run(t.Context(), []string{"serve", "--help"}, &out, &out); err != nil || !strings.Contains(out.String(), "--first-call-extra") || !strings.Contains(out.String(), "drop_answer") {
		t.Errorf("%v\n%s", err, out.String())
	}
}
