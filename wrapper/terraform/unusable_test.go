// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

//go:build !windows

package terraform

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestUnrunnable(t *testing.T) {
	t.Parallel()
	root := layout(t, map[string]string{"script": "#!/nonexistent/interpreter\n", "noise": "this is no program"})
	other := errors.New("odd")
	tests := map[string]struct {
		err  error
		want error
		code int
	}{
		"damaged":        {fmt.Errorf("run: %w", &fs.PathError{Op: "fork/exec", Err: syscall.ENOEXEC}), ErrFormat, 126},
		"no interpreter": {fmt.Errorf("run: %w", syscall.ENOENT), ErrInterpreter, 126},
		"forbidden":      {syscall.EACCES, fs.ErrPermission, 126},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := Unrunnable(filepath.Join(root, "script"), tt.err)
			var fail *NotFoundError
			if !errors.As(err, &fail) || !errors.Is(err, tt.want) || fail.ExitCode() != tt.code || !strings.Contains(err.Error(), PathVariable) {
				t.Errorf("error %v, want %v with exit code %d and a remedy", err, tt.want, tt.code)
			}
		})
	}
	if err := Unrunnable("x", other); !errors.Is(err, other) {
		t.Errorf("another error became %v", err)
	}
	if err := Unrunnable(filepath.Join(root, "gone"), syscall.ENOENT); !errors.Is(err, fs.ErrNotExist) || errors.Is(err, ErrInterpreter) {
		t.Errorf("a file that is gone: %v", err)
	}
}

// TestIdentifyOfWhatCannotRun asks real files.
func TestIdentifyOfWhatCannotRun(t *testing.T) {
	t.Parallel()
	root := layout(t, map[string]string{
		"interpreter": "#!/nonexistent/interpreter\n", "noise": "\x7fELF this is no program",
		"silent": "#!/bin/sh\nexit 0\n", "failing": "#!/bin/sh\necho no version is set >&2\nexit 9\n",
	})
	for name, want := range map[string]error{"interpreter": ErrInterpreter, "noise": ErrFormat, "silent": errNoVersion} {
		_, _, err := (Process{Path: filepath.Join(root, name), Env: os.Environ()}).Identify(t.Context(), Terraform)
		if !errors.Is(err, want) || !strings.Contains(err.Error(), filepath.Join(root, name)) {
			t.Errorf("%s: %v, want %v", name, err, want)
		}
	}
	_, err := (Process{Path: filepath.Join(root, "failing"), Env: os.Environ()}).Version(t.Context())
	if err == nil || !strings.Contains(err.Error(), "no version is set") {
		t.Errorf("what the script says is lost: %v", err)
	}
}

func TestIdentify(t *testing.T) {
	t.Parallel()
	const terraform = `{"terraform_version": "1.11.4", "platform": "linux_amd64", "provider_selections": {}, "terraform_outdated": false}`
	const tofu = "{\n  \"terraform_version\": \"1.12.6\",\n  \"platform\": \"linux_amd64\",\n  \"provider_selections\": {}\n}"
	tests := map[string]struct {
		prints  string
		guess   Product
		product Product
		version string
	}{
		"Terraform":          {terraform, OpenTofu, Terraform, "1.11.4"},
		"OpenTofu":           {tofu, Terraform, OpenTofu, "1.12.6"},
		"neither says":       {`{"terraform_version": "1.0.0"}`, OpenTofu, OpenTofu, "1.0.0"},
		"text before":        {"[command]/bin/terraform-bin version -json\n" + terraform, OpenTofu, Terraform, "1.11.4"},
		"text around":        {"using 1.12.6\n" + tofu + "\n::debug::{exit} code 0}\n", Terraform, OpenTofu, "1.12.6"},
		"braces in the text": {"hello {name}\n" + tofu + "\n", Terraform, OpenTofu, "1.12.6"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := layout(t, map[string]string{"cli": "#!/bin/sh\ncat <<'END'\n" + tt.prints + "\nEND\n"})
			product, v, err := (Process{Path: filepath.Join(root, "cli"), Env: os.Environ()}).Identify(t.Context(), tt.guess)
			if err != nil || product != tt.product || v.String() != tt.version {
				t.Errorf("%s %v, %v", product, v, err)
			}
		})
	}
}

// TestIdentifyComesBack: the program runs tfweaver, which says so.
func TestIdentifyComesBack(t *testing.T) {
	t.Parallel()
	root := layout(t, map[string]string{"cli": "#!/bin/sh\ncat >&2 <<'END'\n│ Error: No CLI to run\n│\n│ The CLI that was found calls\n│ tfweaver again; name another.\nEND\nexit 78\n"})
	_, err := (Process{Path: filepath.Join(root, "cli"), Env: os.Environ()}).Version(context.Background())
	if !errors.Is(err, ErrLoop) {
		t.Errorf("error %v, want %v", err, ErrLoop)
	}
}

func TestDocument(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ out, want string }{
		"clean":          {`{"a":{}}`, `{"a":{}}`},
		"clean line":     {"{\"a\":1}\n", "{\"a\":1}\n"},
		"before":         {"hello {\n{\"a\":1}\n", `{"a":1}`},
		"behind":         {"{\"a\":1}\nbye\n", `{"a":1}`},
		"no object":      {"hello", "hello"},
		"broken":         {"hello\n{\"a\"", "hello\n{\"a\""},
		"nothing at all": {"", ""},
	}
	for name, tt := range tests {
		if got := string(Document([]byte(tt.out))); got != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}
