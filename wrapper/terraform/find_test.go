// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

//go:build !windows

package terraform

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tfweaver/tfweaver/wrapper/arguments"
)

// layout makes files below a folder: a mode of 0 stands for a folder, a text
// that begins with "->" for a link.
func layout(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		var err error
		if to, ok := link(text); ok {
			err = os.Symlink(filepath.Join(root, to), path)
		} else {
			err = os.WriteFile(path, []byte(text), 0o700)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func link(text string) (string, bool) {
	if len(text) > 2 && text[:2] == "->" {
		return text[2:], true
	}
	return "", false
}

func TestFind(t *testing.T) {
	t.Parallel()
	self := map[string]string{"own/tfweaver": "self"}
	tests := map[string]struct {
		files   map[string]string
		path    []string // of PATH
		named   string
		want    string
		product Product
	}{
		"the first on PATH": {
			files: map[string]string{"a/terraform": "1", "b/terraform": "2"}, path: []string{"a", "b"}, want: "a/terraform", product: Terraform,
		},
		"terraform before tofu": {
			files: map[string]string{"a/tofu": "1", "b/terraform": "2"}, path: []string{"a", "b"}, want: "b/terraform", product: Terraform,
		},
		"tofu alone": {files: map[string]string{"a/tofu": "1"}, path: []string{"a"}, want: "a/tofu", product: OpenTofu},
		"not ourselves behind a link": {
			files: map[string]string{"a/terraform": "->own/tfweaver", "b/terraform": "2"}, path: []string{"a", "b"}, want: "b/terraform", product: Terraform,
		},
		"a version manager's script": {
			files: map[string]string{"shims/terraform": "#!/bin/sh"}, path: []string{"shims"}, want: "shims/terraform", product: Terraform,
		},
		"a folder with a blank": {files: map[string]string{"my tools/terraform": "1"}, path: []string{"my tools"}, want: "my tools/terraform", product: Terraform},
		"a folder that is called terraform": {
			files: map[string]string{"a/terraform/x": "1", "b/terraform": "2"}, path: []string{"a", "b"}, want: "b/terraform", product: Terraform,
		},
		"named with a version in the name": {files: map[string]string{"x/terraform1.11.4": "1"}, named: "x/terraform1.11.4", want: "x/terraform1.11.4", product: Terraform},
		"a link to tofu":                   {files: map[string]string{"x/tofu": "1", "a/terraform": "->x/tofu"}, path: []string{"a"}, want: "a/terraform", product: OpenTofu},
		"a folder in PATH that is a file":  {files: map[string]string{"a": "1", "b/terraform": "2"}, path: []string{"a", "b"}, want: "b/terraform", product: Terraform},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for k, v := range self {
				tt.files[k] = v
			}
			root := layout(t, tt.files)
			got, err := Find(searchEnv(root, tt.path, tt.named), filepath.Join(root, "own/tfweaver"))
			if err != nil {
				t.Fatal(err)
			}
			if want := filepath.Join(root, tt.want); got.Path != want || got.Product != tt.product {
				t.Errorf("found %+v, want %s %s", got, want, tt.product)
			}
		})
	}
}

func searchEnv(root string, path []string, named string) arguments.Environment {
	list := "relative"
	for _, p := range path {
		list += string(os.PathListSeparator) + filepath.Join(root, p)
	}
	env := arguments.Environment{"PATH=" + list}
	if named != "" {
		env = env.With(PathVariable, filepath.Join(root, named))
	}
	return env
}

// TestFindCopies: copies of this program are known for what they are, without
// running them, and other programs built by Go are not taken for it.
func TestFindCopies(t *testing.T) {
	t.Parallel()
	executable, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.ReadFile(executable)
	if err != nil {
		t.Fatal(err)
	}
	root := layout(t, map[string]string{"copy/terraform": string(self), "other/terraform": "1"})
	got, err := Find(searchEnv(root, []string{"copy", "other"}, ""), executable)
	if err != nil || got.Path != filepath.Join(root, "other/terraform") || !got.Guessed {
		t.Errorf("found %+v, %v", got, err)
	}
	if _, err := Find(searchEnv(root, nil, "copy/terraform"), executable); !errors.Is(err, ErrItself) {
		t.Errorf("a copy that is named: %v", err)
	}
	got, err = Find(searchEnv(root, []string{"copy"}, ""), filepath.Join(root, "other/terraform"))
	if err != nil || got.Path != filepath.Join(root, "copy/terraform") {
		t.Errorf("found %+v, %v", got, err)
	}
}

// TestFindOfAtlantis: the version that a project selects comes first.
func TestFindOfAtlantis(t *testing.T) {
	t.Parallel()
	root := layout(t, map[string]string{"a/terraform": "1", "b/terraform1.9.8": "2", "b/tofu1.9.8": "3", "b/evil": "4"})
	env := searchEnv(root, []string{"a", "b"}, "").With("ATLANTIS_TERRAFORM_VERSION", "1.9.8")
	for want, env := range map[string]arguments.Environment{
		"b/terraform1.9.8": env,
		"b/tofu1.9.8":      env.With("ATLANTIS_TERRAFORM_DISTRIBUTION", "opentofu"),
		"a/terraform":      env.With("ATLANTIS_TERRAFORM_VERSION", "/../evil"),
	} {
		if got, err := Find(env, ""); err != nil || got.Path != filepath.Join(root, want) {
			t.Errorf("found %+v, %v; want %s", got, err, want)
		}
	}
	env = env.With(PathVariable, filepath.Join(root, "a/terraform"))
	if got, err := Find(env, ""); err != nil || got.Path != filepath.Join(root, "a/terraform") {
		t.Errorf("what is named is not the strongest: %+v, %v", got, err)
	}
}

func TestFindByNameOnPath(t *testing.T) {
	t.Parallel()
	root := layout(t, map[string]string{"a/terraform-1.9": "1"})
	got, err := Find(searchEnv(root, []string{"a"}, "").With(PathVariable, "terraform-1.9"), "")
	if err != nil || got.Path != filepath.Join(root, "a/terraform-1.9") {
		t.Errorf("found %+v, %v", got, err)
	}
}

func TestFindFails(t *testing.T) {
	t.Parallel()
	root := layout(t, map[string]string{"own/tfweaver": "self", "a/terraform": "->own/tfweaver", "b/plain": "x", "c/terraform": "x"})
	for _, name := range []string{"b/plain", "c/terraform"} {
		if err := os.Chmod(filepath.Join(root, name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	self := filepath.Join(root, "own/tfweaver")
	tests := map[string]struct {
		env    arguments.Environment
		want   error
		code   int
		remedy string
	}{
		"nothing":             {searchEnv(root, []string{"a"}, ""), ErrNotFound, 127, "relative"},
		"itself":              {searchEnv(root, nil, "a/terraform"), ErrItself, 0, "correct"},
		"not there":           {searchEnv(root, nil, "a/tofu"), fs.ErrNotExist, 127, "correct"},
		"not executable":      {searchEnv(root, nil, "b/plain"), fs.ErrPermission, 126, "chmod"},
		"a folder":            {searchEnv(root, nil, "b"), errFolder, 126, "correct"},
		"no such name":        {searchEnv(root, []string{"a"}, "").With(PathVariable, "terragrunt"), ErrNotFound, 127, "correct"},
		"its name, forbidden": {searchEnv(root, []string{"b"}, "").With(PathVariable, "plain"), fs.ErrPermission, 126, "chmod"},
		"none can be run":     {searchEnv(root, []string{"c"}, ""), fs.ErrPermission, 126, "chmod"},
		"a loop":              {searchEnv(root, nil, "").With(depthVariable, "8"), ErrLoop, 0, "set"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := Find(tt.env, self)
			var missing *NotFoundError
			if !errors.As(err, &missing) || !errors.Is(err, tt.want) || missing.ExitCode() != tt.code || !strings.Contains(missing.Remedy, tt.remedy) {
				t.Errorf("error %v, want %v with exit code %d and %q as remedy", err, tt.want, tt.code, tt.remedy)
			}
		})
	}
}

func TestDeeper(t *testing.T) {
	t.Parallel()
	env := Deeper(Deeper(arguments.Environment{"A=1"}))
	if got := env.Get(depthVariable); got != "2" {
		t.Errorf("depth %q", got)
	}
}
