// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

// Package plugintest is a provider for tests. It is built with the plugin
// framework, served over either protocol version by the test binary itself,
// and misbehaves on request.
//
// A test package calls [Main] from its TestMain; [Command] then describes how
// to start the provider.
package plugintest

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/provider"
	"github.com/hashicorp/terraform-plugin-framework/providerserver"
)

// Environment variables that the provider process reads.
const (
	// protocolEnv makes the test binary a provider of that protocol version.
	protocolEnv = "PLUGINTEST_PROTOCOL"
	// journalEnv is the file that the provider notes what it does in.
	journalEnv = "PLUGINTEST_JOURNAL"
)

// Source is the address that the provider gives itself.
const Source = "registry.example.com/plugintest/fixture"

// Main runs the tests, or the provider when the process was started as one. It
// returns the exit code.
func Main(m *testing.M) int {
	switch os.Getenv(protocolEnv) {
	case "5":
		return serve(5)
	case "6":
		return serve(6)
	default:
		return m.Run()
	}
}

func serve(protocol int) int {
	if os.Getenv(futureEnv) != "" {
		serveFuture(protocol)
		return 0
	}
	err := providerserver.Serve(context.Background(),
		func() provider.Provider { return &fixture{} },
		providerserver.ServeOpts{Address: Source, ProtocolVersion: protocol, Debug: os.Getenv(debugEnv) != ""})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// Executable returns the program to start.
func Executable(t testing.TB) string {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return exe
}

// Env returns the environment in which the program is a provider of the given
// protocol version that notes what it does in a journal file.
func Env(protocol int, journal string) []string {
	return append(os.Environ(),
		fmt.Sprintf("%s=%d", protocolEnv, protocol), journalEnv+"="+journal)
}

// note adds a line to the journal: what was done, by which process.
func note(format string, args ...any) {
	path := os.Getenv(journalEnv)
	if path == "" {
		return
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return
	}
	defer f.Close()
	fmt.Fprintf(f, "%d %s\n", os.Getpid(), fmt.Sprintf(format, args...))
}

// Journal returns what the provider processes of a journal file did so far,
// oldest first, without their process ids.
func Journal(t testing.TB, path string) []string {
	t.Helper()
	var notes []string
	for _, e := range entries(t, path) {
		notes = append(notes, e.what)
	}
	return notes
}

// PID returns the process that was the last to note something, 0 when none did.
func PID(t testing.TB, path, what string) int {
	t.Helper()
	for _, e := range slices.Backward(entries(t, path)) {
		if e.what == what {
			return e.pid
		}
	}
	return 0
}

// entry is one line of a journal file.
type entry struct {
	pid  int
	what string
}

func entries(t testing.TB, path string) []entry {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	var all []entry
	for line := range strings.Lines(string(data)) {
		pid, what, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		n, err := strconv.Atoi(pid)
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		all = append(all, entry{n, what})
	}
	return all
}
