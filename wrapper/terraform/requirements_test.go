// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package terraform

import (
	"os"
	"path/filepath"
	"testing"
)

// TestOutdated: a constraint of any module, in either syntax, that does not allow
// what was selected.
func TestOutdated(t *testing.T) {
	t.Parallel()
	selected := map[string]string{"registry.terraform.io/tfweaver/simcloud": "0.1.0", "registry.terraform.io/hashicorp/random": "3.6.0"}
	object := func(version string) string {
		return "terraform {\n  required_providers {\n    cloud = {\n      source  = \"tfweaver/simcloud\"\n      version = \"" + version + "\"\n    }\n  }\n}\n"
	}
	tests := map[string]struct {
		file, text string
		want       bool
	}{
		"none":               {"main.tf", "resource \"a\" \"version\" {}\n", false},
		"allowed":            {"main.tf", object("~> 0.1"), false},
		"too low":            {"main.tf", object(">= 0.2, < 1"), true},
		"unreadable version": {"main.tf", object("newest"), true},
		"of a module":        {"deep/er/main.tf", object("> 7"), true},
		"of no module":       {"unused/main.tf", object("> 7"), false},
		"old form":           {"main.tf", "terraform {\n  required_providers {\n    random = \"< 3\"\n  }\n}\n", true},
		"of another":         {"main.tf", "terraform {\n  required_providers {\n    other = \"< 3\"\n  }\n}\n", false},
		"JSON":               {"main.tf.json", `{"terraform":{"required_providers":{"cloud":{"source":"tfweaver/simcloud","version":"> 7"}}}}`, true},
		"not understood":     {"main.tf", "terraform { version", false},
		"configured aliases": {"main.tf", "terraform {\n  required_providers {\n    random = {\n      version = \">= 3\"\n      configuration_aliases = [random.a]\n    }\n  }\n}\n", false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := t.TempDir()
			write := func(name, text string) {
				path := filepath.Join(root, filepath.FromSlash(name))
				if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			write(".terraform/modules/modules.json", `{"Modules":[{"Key":"","Source":"","Dir":"."},{"Key":"m","Source":"./deep/er","Dir":"deep/er"}]}`)
			write(tt.file, tt.text)
			w := Workdir{Root: root, DataDir: filepath.Join(root, ".terraform")}
			if got := w.Outdated(selected, Terraform); got != tt.want {
				t.Errorf("outdated: %v, want %v", got, tt.want)
			}
		})
	}
}
