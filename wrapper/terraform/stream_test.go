// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

//go:build !windows

package terraform

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
)

func TestStream(t *testing.T) {
	t.Parallel()
	got := ""
	all := func(out io.Reader) error {
		text, err := io.ReadAll(out)
		got = string(text)
		return err
	}
	if err := fake(t, "echo", "a", "b").Stream(t.Context(), 100, all); err != nil || got != "a b\n" {
		t.Errorf("%q, %v", got, err)
	}
	if err := fake(t, "echo", "a", "b").Stream(t.Context(), 3, all); err == nil || !strings.Contains(err.Error(), "more than 3 bytes") {
		t.Errorf("output that is too long: %v", err)
	}
	var failed *OutputError
	if err := fake(t, "fail").Stream(t.Context(), 100, all); !errors.As(err, &failed) || failed.ExitCode != 3 {
		t.Errorf("error %v, want what the CLI said", err)
	}
	gone := Process{Path: filepath.Join(t.TempDir(), "none")}
	if err := gone.Stream(t.Context(), 100, all); err == nil {
		t.Error("a program that is not there was run")
	}
}

// TestStreamThatIsNotRead: the CLI ends although nobody wants what it prints,
// which is more than a pipe holds.
func TestStreamThatIsNotRead(t *testing.T) {
	t.Parallel()
	root := layout(t, map[string]string{"cli": "#!/bin/sh\nhead -c 1000000 /dev/zero\n"})
	odd := errors.New("odd")
	p := Process{Path: filepath.Join(root, "cli"), Env: os.Environ()}
	if err := p.Stream(t.Context(), 1<<20, func(io.Reader) error { return odd }); !errors.Is(err, odd) {
		t.Errorf("error %v, want that of the reader", err)
	}
}

func TestObject(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ out, want string }{
		"clean":               {`{"a":{}}`, `{"a":{}}`},
		"before":              {"hello {\n{\"a\":1}\n", `{"a":1}`},
		"behind":              {"{\"a\":[{}]}\nbye }\n", `{"a":[{}]}`},
		"marks in texts":      {`{"a\"}":"}\\"} bye`, `{"a\"}":"}\\"}`},
		"no object":           {"hello {}", ""},
		"cut off":             {"hello\n{\"a\"", "{\"a\""},
		"nothing at all":      {"", ""},
		"an object and a one": {"{}\n{}", "{}"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, in := range []io.Reader{strings.NewReader(tt.out), iotest.OneByteReader(strings.NewReader(tt.out)), iotest.DataErrReader(strings.NewReader(tt.out))} {
				got, err := io.ReadAll(Object(in))
				if err != nil || string(got) != tt.want {
					t.Errorf("%q, %v; want %q", got, err, tt.want)
				}
			}
		})
	}
}
