// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

//go:build !windows

package command

import (
	"crypto/x509"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/tfweaver/tfweaver/internal/coordinator/client"
	"github.com/tfweaver/tfweaver/internal/coordinator/embedded"
)

// TestConnectProblems: each failure has a remedy of its own, and no other's.
func TestConnectProblems(t *testing.T) {
	t.Parallel()
	const address = "unix:///run/shared/s"
	tests := map[string]struct {
		err         error
		says, never []string
	}{
		"nobody": {
			&connectError{Address: address, Err: fmt.Errorf("%w: %w", client.ErrUnreachable, syscall.ECONNREFUSED)},
			[]string{"Nobody answers at " + address + " (connection refused)", "Start it with", "Nothing was sent"},
			nil,
		},
		"another user's": {
			&connectError{Address: address, Err: fmt.Errorf("%w: %w", client.ErrDenied, syscall.EACCES)},
			[]string{address, "another user (permission denied)", "one user of one machine", "TFWEAVER_COORDINATOR", "-listen tcp://"},
			[]string{"Start it with", "Nobody answers"},
		},
		"no address": {
			&connectError{Address: "foo", Err: fmt.Errorf("%q %w: use unix:///path/to/socket", "foo", client.ErrAddress)},
			[]string{`"foo" is no address`, "unix:///path", "TFWEAVER_COORDINATOR"},
			[]string{"--listen foo"},
		},
		"no certificate": {
			&connectError{Address: "tcp://h:1", Err: fmt.Errorf("%w: tcp://h:1: nobody who is trusted here vouches for it", client.ErrCertificate)},
			[]string{"tcp://h:1", "nobody who is trusted here vouches", "-weaver-ca-file", "TFWEAVER_CA_FILE", "Nothing was sent"},
			[]string{"Nobody answers", "Start it with"},
		},
		"no token": {
			&connectError{Address: "tcp://h:1", Err: fmt.Errorf("%w at tcp://h:1", client.ErrNoToken)},
			[]string{"asks for a token", "TFWEAVER_TOKEN", "-weaver-token-file"},
			[]string{"Nobody answers"},
		},
		"no token, of the settings": {
			&connectError{Address: "tcp://h:1", Err: &tokenError{Where: "/repo/nope", From: "token_file in /repo/.tfweaver.hcl", Coordinator: "the coordinator at tcp://h:1 (named by /repo/.tfweaver.hcl)", Err: errNoToken}},
			[]string{"tcp://h:1 (named by /repo/.tfweaver.hcl) asks for a token", "/repo/nope", "correct token_file in /repo/.tfweaver.hcl"},
			[]string{"-weaver-token-file"},
		},
		"an expired certificate": {
			&connectError{Address: "tcp://h:1", Err: fmt.Errorf("%w: tcp://h:1: %w", client.ErrCertificate, x509.CertificateInvalidError{Reason: x509.Expired})},
			[]string{"Whoever runs the coordinator has to renew it"},
			[]string{"ca_file", "-weaver-ca-file"},
		},
		"another name": {
			&connectError{Address: "tcp://h:1", Err: fmt.Errorf("%w: tcp://h:1: %w", client.ErrCertificate, x509.HostnameError{Certificate: &x509.Certificate{}, Host: "h"})},
			[]string{"Correct -weaver-coordinator"},
			[]string{"ca_file", "-weaver-ca-file"},
		},
		"nobody on the network": {
			&connectError{Address: "tcp://h:1", Err: client.ErrUnreachable},
			[]string{"--listen tcp://h:1 --tls-cert FILE --tls-key FILE --token-file FILE"},
			nil,
		},
		"another token": {
			&connectError{Address: "tcp://h:1", Err: fmt.Errorf("%w at tcp://h:1", client.ErrTokenRefused)},
			[]string{"knows another token", "TFWEAVER_TOKEN"},
			[]string{"Nobody answers"},
		},
		"no TLS": {
			&connectError{Address: "tcp://h:1", Err: fmt.Errorf("%w at tcp://h:1: this is no coordinator", client.ErrPlaintext)},
			[]string{"does not speak TLS", "tcp://h:1", "Correct"},
			[]string{"Nobody answers"},
		},
		"does not start": {
			&connectError{Err: &embedded.StartError{Reason: "/state/journal.db: the journal is damaged"}},
			[]string{"/state/journal.db: the journal is damaged.", "-weaver-off", "Nothing was sent"},
			[]string{"could not be started: the"},
		},
		"asking": {
			&connectError{Err: &embedded.StartError{Reason: "the disk is full"}, Asking: true},
			[]string{"The disk is full."},
			[]string{"Nothing was sent", "-weaver-off"},
		},
		"serve": {
			&serveError{fmt.Errorf("%s: too long", "unix:///Run/s")},
			[]string{"unix:///Run/s: too long."},
			[]string{"Unix:", "Nothing was sent"},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, code := explain(tt.err)
			if code != ExitSetup {
				t.Errorf("exit code %d", code)
			}
			for _, text := range tt.says {
				if !strings.Contains(p.Detail, text) {
					t.Errorf("the detail lacks %q: %s", text, p.Detail)
				}
			}
			for _, text := range tt.never {
				if strings.Contains(p.Detail, text) {
					t.Errorf("the detail has %q: %s", text, p.Detail)
				}
			}
		})
	}
}

// TestNothingCoordinatedYet: where nothing was ever coordinated nothing is
// started, and nothing is claimed about locks.
func TestNothingCoordinatedYet(t *testing.T) {
	state := t.TempDir()
	t.Setenv("XDG_STATE_HOME", state)
	for _, tt := range []struct {
		args []string
		code int
		text string
	}{
		{[]string{"status"}, 0, "no coordinator is running"},
		{[]string{"locks"}, 0, "Nothing has been coordinated"},
		{[]string{"locks", "-json"}, 0, "[]"},
		{[]string{"report"}, 0, "Nothing has been coordinated"},
		{[]string{"report", "-json"}, 0, `"items": []`},
		{[]string{"why", "t99"}, ExitError, "othing has been coordinated"},
		{[]string{"resolve", "t99", "-reason=x", "-gone"}, ExitError, "othing has been coordinated"},
	} {
		r := newRig(t, tt.args...)
		r.run(t, tt.code)
		said := r.stdout.String() + r.stderr.String()
		if !strings.Contains(said, tt.text) || strings.Contains(said, "No lock is held") {
			t.Errorf("%v: %q", tt.args, said)
		}
	}
	if entries, err := os.ReadDir(state); err != nil || len(entries) != 0 {
		t.Errorf("%v was made, %v", entries, err)
	}
}

// TestJournalNeedsACoordinator: with a journal there may be locks. If no
// coordinator can be started to tell, that is said.
func TestJournalNeedsACoordinator(t *testing.T) {
	state := t.TempDir()
	t.Setenv("XDG_STATE_HOME", state)
	t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
	write(t, filepath.Join(state, "tfweaver", "journal.db"), "", 0o600)
	for _, args := range [][]string{{"status"}, {"locks"}, {"locks", "-json"}, {"why", "t9"}, {"resolve", "t9", "-reason=x", "-gone"}} {
		r := newRig(t, args...) // its program does not exist
		r.run(t, ExitSetup)
		if !strings.Contains(r.stderr.String(), "The coordinator cannot be started") || r.stdout.Len() != 0 {
			t.Errorf("%v: %q, %q", args, r.stdout, r.stderr)
		}
	}
}

// TestServeRefuses: a daemon that cannot serve says so in its own words.
func TestServeRefuses(t *testing.T) {
	t.Parallel()
	leader := newRig(t)
	leader.coordinator(t)
	held := strings.TrimPrefix(leader.Env.Get("TFWEAVER_COORDINATOR"), "unix://")
	journal := filepath.Join(filepath.Dir(held), "journal")
	shared := t.TempDir()
	if err := os.Chmod(shared, 0o777|fs.ModeSticky); err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		args []string
		says []string
	}{
		"led folder":    {[]string{"-listen=unix://" + held + "2", "-dir=" + journal}, []string{journal, fmt.Sprintf("process %d", os.Getpid()), "unix://" + held}},
		"no address":    {[]string{"-listen=foo", "-dir=" + t.TempDir()}, []string{`"foo"`, "unix:///path", "tcp://HOST:PORT"}},
		"shared folder": {[]string{"-listen=unix://" + filepath.Join(shared, "s"), "-dir=" + t.TempDir()}, []string{shared}},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, append([]string{"serve"}, tt.args...)...)
			r.run(t, ExitSetup)
			said := unboxed(r.stderr.String())
			for _, text := range append(tt.says, "tfweaver serve failed") {
				if !strings.Contains(said, text) {
					t.Errorf("%q lacks %q", said, text)
				}
			}
			for _, bad := range []string{"chmod", "cannot coordinate this run", "Nothing was sent", "Unix:"} {
				if strings.Contains(said, bad) {
					t.Errorf("%q has %q", said, bad)
				}
			}
		})
	}
}

// unboxed is a text for people without the frame and the line breaks.
func unboxed(text string) string {
	return strings.Join(strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune("│╷╵ \n\t", r) }), " ")
}

// TestTheLineThatIsWrongIsNamed: what the settings name and is not there is told
// with the line that names it.
func TestTheLineThatIsWrongIsNamed(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		block string
		says  []string
	}{
		"token":     {`token_file = "nope"`, []string{"No token", "tcp://127.0.0.1:1", "nope: no such file", "token_file in "}},
		"authority": {"token_env = \"HOME\"\n  ca_file = \"nope.pem\"", []string{"nope.pem cannot be read: no such file", "ca_file in "}},
	} {
		r := newRig(t, "status")
		r.Env = r.Env.With("HOME", strings.Repeat("/home-of-many", 3))
		path := filepath.Join(r.work, ".tfweaver.hcl")
		write(t, path, "coordinator {\n  address = \"tcp://127.0.0.1:1\"\n  "+tt.block+"\n}\n", 0o600)
		r.run(t, ExitSetup)
		for _, text := range append(tt.says, path) {
			if said := unboxed(r.stderr.String()); !strings.Contains(said, text) {
				t.Errorf("%s: %q lacks %q", name, said, text)
			}
		}
	}
	r := newRig(t, "status", "-weaver-coordinator=tcp://x")
	r.run(t, ExitSetup)
	if said := unboxed(r.stderr.String()); strings.Contains(said, "token") || !strings.Contains(said, "name a host and a port") {
		t.Errorf("an address without a port: %q", said)
	}
}
