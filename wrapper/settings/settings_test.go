// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package settings

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func write(t *testing.T, path, text string) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestRead(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	wait := 15 * time.Minute
	tests := map[string]struct {
		text string
		want Settings
	}{
		"nothing": {},
		"everything": {
			text: `
coordinator {
  address   = "tcp://weaver.test:7443"
  ca_file   = "ci/ca.pem"
  token_env = "WEAVER_CI_TOKEN"
}

mode   = "wait"
wait   = "15m"
policy = "reject"

realm "simcloud:prod-*" {
  mode = "enforce"
}

realm "*" {
  mode = "observe"
}
`,
			want: Settings{
				Coordinator: &Coordinator{Address: "tcp://weaver.test:7443", CAFile: filepath.Join(dir, "ci", "ca.pem"), TokenEnv: "WEAVER_CI_TOKEN"},
				Mode:        "wait", Wait: &wait, Policy: "reject",
				Realms: []Realm{{Pattern: "simcloud:prod-*", Mode: "enforce"}, {Pattern: "*", Mode: "observe"}},
			},
		},
		"absolute paths stay": {
			text: `coordinator {
  address    = "unix:///run/weaver/s"
  token_file = "/run/secrets/weaver"
}`,
			want: Settings{Coordinator: &Coordinator{Address: "unix:///run/weaver/s", TokenFile: "/run/secrets/weaver"}},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(dir, FileName)
			tt.want.Path = path
			got, err := Parse(path, []byte(tt.text))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("Parse (-want +got):\n%s", diff)
			}
			text, err := json.Marshal(got)
			if err != nil {
				t.Fatal(err)
			}
			var again Settings
			if err := json.Unmarshal(text, &again); err != nil || !cmp.Equal(got, again) {
				t.Errorf("as JSON: %s, %v", text, err)
			}
		})
	}
}

func TestMistakesAreNamedWithTheirLine(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		text string
		line string
		says string
	}{
		"no HCL":            {"coordinator {", ":1:", "Unclosed configuration block"},
		"unknown attribute": {"\nmodus = \"wait\"", ":2:", `"modus" is not expected`},
		"unknown block":     {"coordinate {}", ":1:", `"coordinate" are not expected`},
		"no mode":           {"mode = \"strict\"", ":1:", `"strict" is none of off, observe, wait, enforce`},
		"no policy":         {"policy = \"hope\"", ":1:", `"hope" is none of queue, reject`},
		"no duration":       {"wait = \"10\"", ":1:", `"10" is not a duration`},
		"negative":          {"wait = \"-1s\"", ":1:", `"-1s" is not a duration`},
		"a number":          {"\n\nwait = 10", ":3:", "a text in quotes"},
		"a variable":        {"mode = var.mode", ":1:", "Variables not allowed"},
		"no address":        {"coordinator {\n}", ":1:", `"address" is required`},
		"no port":           {"coordinator {\n  address = \"tcp://x\"\n}", ":2:", `"tcp://x" is no address`},
		"no path":           {"coordinator {\n  address = \"unix://\"\n}", ":2:", `"unix://" is no address`},
		"another address":   {"coordinator {\n  address = \"https://weaver.test\"\n}", ":2:", "no address of a coordinator"},
		"two coordinators":  {"coordinator {\n  address = \"tcp://a:1\"\n}\ncoordinator {\n  address = \"tcp://b:1\"\n}", ":4:", "Two coordinators"},
		"two tokens":        {"coordinator {\n  address = \"tcp://a:1\"\n  token_env = \"T\"\n  token_file = \"t\"\n}", ":4:", "not both"},
		"a realm without":   {"realm \"x\" {\n}", ":1:", `"mode" is required`},
		"a realm, nameless": {"realm {\n  mode = \"off\"\n}", ":1:", "pattern"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := Parse("/repo/"+FileName, []byte(tt.text))
			var broken *Error
			if !errors.As(err, &broken) {
				t.Fatalf("error %v is no *Error", err)
			}
			if text := err.Error(); !strings.Contains(text, "/repo/"+FileName+tt.line) || !strings.Contains(text, tt.says) {
				t.Errorf("%q lacks %q or %q", text, tt.line, tt.says)
			}
			if !cmp.Equal(got, Settings{}) {
				t.Errorf("half of a broken file was taken: %+v", got)
			}
		})
	}
}

// TestATokenInTheFileIsRefused also makes sure that it is not repeated.
func TestATokenInTheFileIsRefused(t *testing.T) {
	t.Parallel()
	_, err := Parse("/repo/"+FileName, []byte("coordinator {\n  address = \"tcp://a:1\"\n  token = \"s3cret\"\n}"))
	if err == nil || !strings.Contains(err.Error(), ":3:") || !strings.Contains(err.Error(), "token_env or token_file") {
		t.Errorf("error %v", err)
	}
	if err != nil && strings.Contains(err.Error(), "s3cret") {
		t.Errorf("the secret is in the message: %v", err)
	}
}

func TestModeOf(t *testing.T) {
	t.Parallel()
	s := Settings{Mode: "enforce", Realms: []Realm{
		{Pattern: "simcloud:prod-?", Mode: "wait"}, {Pattern: "simcloud:*", Mode: "observe"}, {Pattern: "a*b*c", Mode: "off"},
	}}
	for realm, want := range map[string]string{
		"simcloud:prod-1": "wait", "SimCloud:PROD-2": "wait", "simcloud:prod-10": "observe", "simcloud:": "observe",
		"other": "enforce", "abc": "off", "axbxbxc": "off", "axbx": "enforce", "": "enforce", "xabc": "enforce",
	} {
		if got := s.ModeOf(realm); got != want {
			t.Errorf("%q: %s, want %s", realm, got, want)
		}
	}
	if got := (Settings{}).ModeOf("x"); got != "" {
		t.Errorf("no settings say %q", got)
	}
}

func TestFind(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		files []string
		dirs  []string
		from  string
		home  string
		want  string
	}{
		"nowhere":                       {dirs: []string{"repo/.git"}, from: "repo/net", want: ""},
		"in the working folder":         {files: []string{"repo/net/" + FileName, "repo/" + FileName}, dirs: []string{"repo/.git"}, from: "repo/net", want: "repo/net/" + FileName},
		"in the repository":             {files: []string{"repo/" + FileName}, dirs: []string{"repo/.git"}, from: "repo/a/b", want: "repo/" + FileName},
		"not above the repository":      {files: []string{FileName}, dirs: []string{"repo/.git"}, from: "repo/a", want: ""},
		"in a work tree":                {files: []string{"tree/" + FileName, "tree/.git"}, from: "tree/a", want: "tree/" + FileName},
		"not above a work tree":         {files: []string{FileName, "tree/.git"}, from: "tree/a", want: ""},
		"without a repository":          {files: []string{"x/" + FileName}, from: "x/a/b", want: "x/" + FileName},
		"not in home":                   {files: []string{"home/" + FileName}, from: "home/a", home: "home", want: ""},
		"home is the working folder":    {files: []string{"home/" + FileName}, from: "home", home: "home", want: "home/" + FileName},
		"home is a repository":          {files: []string{"home/" + FileName}, dirs: []string{"home/.git"}, from: "home/a", home: "home", want: "home/" + FileName},
		"not above home":                {files: []string{FileName}, from: "home/a", home: "home", want: ""},
		"not above home, from there":    {files: []string{FileName}, from: "home", home: "home", want: ""},
		"a folder that is not there":    {files: []string{"x/" + FileName}, from: "x/not/there", want: "x/" + FileName},
		"the nearest of two above":      {files: []string{"r/" + FileName, "r/a/" + FileName}, dirs: []string{"r/.git"}, from: "r/a/b", want: "r/a/" + FileName},
		"below, which is not looked at": {files: []string{"r/a/" + FileName}, dirs: []string{"r/.git"}, from: "r", want: ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			top := t.TempDir()
			for _, dir := range tt.dirs {
				if err := os.MkdirAll(filepath.Join(top, dir), 0o700); err != nil {
					t.Fatal(err)
				}
			}
			for _, file := range tt.files {
				write(t, filepath.Join(top, file), "")
			}
			home := top // so that nothing outside of the test's folder counts
			if tt.home != "" {
				home = filepath.Join(top, tt.home)
			} else if len(tt.files) > 0 && tt.files[0] == FileName {
				home = ""
			}
			got, err := Find(filepath.Join(top, tt.from), home)
			if err != nil {
				t.Fatal(err)
			}
			want := tt.want
			if want != "" {
				want = filepath.Join(top, filepath.FromSlash(want))
			}
			if got != want {
				t.Errorf("found %q, want %q", got, want)
			}
		})
	}
}

func TestLoad(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	if s, err := Load(top, filepath.Dir(top)); err != nil || s.Path != "" {
		t.Errorf("without a file: %+v, %v", s, err)
	}
	path := write(t, filepath.Join(top, FileName), `mode = "observe"`)
	s, err := Load(top, "")
	if err != nil || s.Path != path || s.Mode != "observe" {
		t.Errorf("%+v, %v", s, err)
	}
	write(t, path, strings.Repeat("#", maxFile+1))
	if _, err := Load(top, ""); err == nil {
		t.Error("a file without end is read")
	}
}

// TestNoEndOfMistakes: what is no settings file at all does not fill the screen.
func TestNoEndOfMistakes(t *testing.T) {
	t.Parallel()
	_, err := Parse("/repo/"+FileName, []byte(strings.Repeat("mode = \"strict\"\n\xff\x00\x01 {{ \x7f\n", 50)))
	if err == nil {
		t.Fatal("it was taken")
	}
	lines := strings.Split(err.Error(), "\n")
	if len(lines) > maxMistakes+1 || !strings.HasPrefix(lines[len(lines)-1], "... and ") {
		t.Errorf("%d lines:\n%s", len(lines), err)
	}
	for i, line := range lines {
		if slices.Contains(lines[:i], line) {
			t.Errorf("%q stands there twice", line)
		}
	}
}
