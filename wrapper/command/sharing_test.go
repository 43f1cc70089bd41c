// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

//go:build !windows

package command

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tfweaver/tfweaver/wrapper/arguments"
)

// TestCIRefusesTheCoordinatorOfOneMachine: it would coordinate with nobody, and
// nobody would notice.
func TestCIRefusesTheCoordinatorOfOneMachine(t *testing.T) {
	t.Parallel()
	for _, command := range []string{"apply", "destroy", "plan"} {
		r := newRig(t, command, "-auto-approve")
		r.install(t)
		r.Env = r.Env.With("CI", "true")
		r.run(t, ExitSetup)
		said := unboxed(r.stderr.String())
		for _, text := range []string{
			"No shared coordinator in CI", ".tfweaver.hcl", "coordinator { address", "token_env = \"TFWEAVER_TOKEN\"", "-weaver-coordinator",
			"TFWEAVER_COORDINATOR", "tfweaver serve -listen tcp://", "-weaver-local", "TFWEAVER_LOCAL=1", "Nothing was sent",
		} {
			if !strings.Contains(said, text) {
				t.Errorf("%s: %q lacks %q", command, said, text)
			}
		}
		if calls, _ := os.ReadFile(filepath.Join(r.cli, "calls")); strings.Contains(string(calls), command) {
			t.Errorf("the CLI was called: %s", calls)
		}
	}
}

func TestInCI(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]bool{"true": true, "1": true, "yes": true, "False": false, "0": false, "": false, " ": false, "woodpecker": true} {
		if got := inCI(arguments.Environment{"CI=" + value}); got != want {
			t.Errorf("CI=%q: %v", value, got)
		}
	}
	if inCI(nil) {
		t.Error("without the variable this is no CI")
	}
}

// TestCIWithASharedCoordinator: one that is named is used, wherever it is named.
func TestCIWithASharedCoordinator(t *testing.T) {
	t.Parallel()
	for name, share := range map[string]func(t *testing.T, r *rig, address string){
		"the environment": func(_ *testing.T, r *rig, address string) { r.Env = r.Env.With("TFWEAVER_COORDINATOR", address) },
		"an option":       func(_ *testing.T, r *rig, address string) { r.Args = append(r.Args, "-weaver-coordinator="+address) },
		"the settings": func(t *testing.T, r *rig, address string) {
			write(t, filepath.Join(r.work, ".tfweaver.hcl"), "coordinator {\n  address = \""+address+"\"\n}\n", 0o600)
		},
		"the settings of a folder above": func(t *testing.T, r *rig, address string) {
			r.Env = r.Env.With("HOME", t.TempDir())
			write(t, filepath.Join(filepath.Dir(r.work), ".tfweaver.hcl"), "coordinator {\n  address = \""+address+"\"\n}\n", 0o600)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, "apply", "-auto-approve")
			r.install(t)
			r.coordinator(t)
			address := r.Env.Get("TFWEAVER_COORDINATOR")
			r.Env = r.Env.Without("TFWEAVER_COORDINATOR").With("CI", "1")
			share(t, r, address)
			r.run(t, 0)
			if !strings.Contains(r.stderr.String(), "oordinated on ") {
				t.Errorf("standard error %q", r.stderr)
			}
		})
	}
}

// TestCIWithOneMachine: whoever says that it is all there is gets it.
func TestCIWithOneMachine(t *testing.T) {
	state := t.TempDir()
	t.Setenv("XDG_STATE_HOME", state)
	t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
	for _, env := range []arguments.Environment{{"CI=true", "TFWEAVER_LOCAL=1"}, {"CI=false"}, nil} {
		r := newRig(t, "apply")
		r.install(t)
		r.Env = append(r.Env, env...)
		r.run(t, ExitSetup) // its program does not exist, so nothing can be started
		if said := r.stderr.String(); !strings.Contains(said, "coordinator cannot be started") {
			t.Errorf("%v: %q", env, said)
		}
	}
}

// TestSettingsThatStopARun: what is misspelt must not weaken what was meant.
func TestSettingsThatStopARun(t *testing.T) {
	t.Parallel()
	const broken = "coordinator {\n  adress = \"tcp://h:1\"\n}\n"
	for _, args := range [][]string{{"apply"}, {"plan"}, {"status"}, {"why", "t1"}} {
		r := complete(t, args...)
		write(t, filepath.Join(r.work, ".tfweaver.hcl"), broken, 0o600)
		r.run(t, ExitSetup)
		said := unboxed(r.stderr.String())
		for _, text := range []string{"Broken settings", ".tfweaver.hcl:2:", `"adress" is not expected`, "Correct"} {
			if !strings.Contains(said, text) {
				t.Errorf("%v: %q lacks %q", args, said, text)
			}
		}
	}
	for _, args := range [][]string{{"init"}, {"fmt"}, {"apply", "-weaver-off"}} {
		r := complete(t, args...)
		write(t, filepath.Join(r.work, ".tfweaver.hcl"), broken, 0o600)
		r.run(t, 7) // left to the CLI
	}
}

// TestSettingsThatCoordinateNothing leave all to the CLI.
func TestSettingsThatCoordinateNothing(t *testing.T) {
	t.Parallel()
	r := complete(t, "apply")
	write(t, filepath.Join(r.work, ".tfweaver.hcl"), `mode = "off"`, 0o600)
	r.run(t, 7)
}

func TestToken(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "token"), "from-the-file\n", 0o600)
	write(t, filepath.Join(dir, "empty"), "\n", 0o600)
	write(t, filepath.Join(dir, "two"), "one\ntwo\n", 0o600)
	write(t, filepath.Join(dir, "long"), strings.Repeat("x", maxToken+1), 0o600)
	option := func(file string) arguments.Weaver {
		return arguments.Weaver{TokenFile: file, TokenEnv: "TFWEAVER_TOKEN", From: map[string]string{"token-file": "-weaver-token-file"}}
	}
	settings := func(file, env string) arguments.Weaver {
		return arguments.Weaver{TokenFile: file, TokenEnv: env, From: map[string]string{"token-file": "/repo/.tfweaver.hcl"}}
	}
	tests := map[string]struct {
		weaver      arguments.Weaver
		env         arguments.Environment
		want, fails string
	}{
		"the variable":            {weaver: settings("", "TFWEAVER_TOKEN"), env: arguments.Environment{"TFWEAVER_TOKEN= abc\n"}, want: "abc"},
		"an option":               {weaver: option("token"), env: arguments.Environment{"TFWEAVER_TOKEN=abc"}, want: "from-the-file"},
		"the file of settings":    {weaver: settings(filepath.Join(dir, "token"), "TFWEAVER_TOKEN"), want: "from-the-file"},
		"the variable before it":  {weaver: settings(filepath.Join(dir, "token"), "TFWEAVER_TOKEN"), env: arguments.Environment{"TFWEAVER_TOKEN=abc"}, want: "abc"},
		"the variable it names":   {weaver: settings("", "CI_WEAVER"), env: arguments.Environment{"CI_WEAVER=def"}, want: "def"},
		"nothing":                 {weaver: settings("", "CI_WEAVER"), fails: "CI_WEAVER: there is no token in it"},
		"an empty file":           {weaver: option("empty"), fails: "empty: there is no token in it"},
		"a file of several lines": {weaver: option("two"), fails: "two: a token is one line"},
		"a file without end":      {weaver: option("long"), fails: "long: it has more than"},
		"no file":                 {weaver: option("none"), fails: "none: no such file"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := &App{Dir: dir, Env: tt.env}
			got, err := a.token(tt.weaver)
			switch {
			case tt.fails == "" && (err != nil || got != tt.want):
				t.Errorf("%q, %v; want %q", got, err, tt.want)
			case tt.fails != "" && (err == nil || !strings.Contains(err.Error(), tt.fails)):
				t.Errorf("error %v, want %q", err, tt.fails)
			}
			if err == nil {
				return
			}
			problem, code := explain(&connectError{Address: "tcp://h:1", Err: err})
			if code != ExitSetup || !strings.Contains(problem.Detail, "TFWEAVER_TOKEN") || strings.Contains(problem.Detail, "xxx") {
				t.Errorf("%+v, exit code %d", problem, code)
			}
		})
	}
}

// TestServeOnTheNetworkNeedsTLSAndAToken: it refuses to start, and says how to
// make what is missing.
func TestServeOnTheNetworkNeedsTLSAndAToken(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		args        []string
		says, never []string
	}{
		"nothing": {
			[]string{"-listen=tcp://0.0.0.0:7443"},
			[]string{"needs TLS and a token", "-tls-cert, -tls-key, -token-file", "openssl rand", "openssl req -x509", "subjectAltName=DNS:desk", "tfweaver serve -listen=tcp://0.0.0.0:7443"},
			nil,
		},
		"no token": {
			[]string{"-listen=tcp://10.0.0.7:7443", "-tls-cert=c", "-tls-key=k"},
			[]string{"Missing: -token-file.", "subjectAltName=IP:10.0.0.7"},
			[]string{"-tls-cert,"},
		},
		"no key": {
			[]string{"-listen=tcp://weaver.test:7443", "-tls-cert=c", "-token-file=t"},
			[]string{"Missing: -tls-key.", "subjectAltName=DNS:weaver.test"},
			nil,
		},
		"a token for a socket": {
			[]string{"-listen=unix:///run/s", "-token-file=t"},
			[]string{"-token-file", "a socket is this user's alone"},
			[]string{"openssl"},
		},
		"nowhere": {nil, []string{"-listen", "tcp://HOST:PORT"}, nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, append([]string{"serve", "-dir=" + t.TempDir()}, tt.args...)...)
			r.run(t, ExitSetup)
			said := unboxed(r.stderr.String())
			for _, text := range tt.says {
				if !strings.Contains(said, text) {
					t.Errorf("%q lacks %q", said, text)
				}
			}
			for _, text := range tt.never {
				if strings.Contains(said, text) {
					t.Errorf("%q has %q", said, text)
				}
			}
		})
	}
}

func TestInvitation(t *testing.T) {
	t.Parallel()
	c := serveCommand{Listen: "tcp://0.0.0.0:0", TLSCert: "/etc/weaver/weaver-ca.pem", TokenFile: "/etc/weaver/token"}
	got := c.invitation("tcp://0.0.0.0:4711", "desk")
	for _, text := range []string{`address   = "tcp://desk:4711"`, `ca_file   = "weaver-ca.pem"`, "TFWEAVER_TOKEN", "/etc/weaver/token"} {
		if !strings.Contains(got, text) {
			t.Errorf("%q lacks %q", got, text)
		}
	}
	if got := (serveCommand{Listen: "unix:///s"}).invitation("unix:///s", "desk"); !strings.Contains(got, "-weaver-coordinator=unix:///s") {
		t.Errorf("a socket: %q", got)
	}
}
