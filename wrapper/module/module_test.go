// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package module

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		path := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

const rootModule = `
terraform {
  required_providers {
    cloud = {
      source  = "example/cloud"
      version = ">= 1"
    }
    old = "~> 2.0"
  }
  backend "s3" {
    bucket = var.not_evaluated
  }
}

resource "cloud_network" "a" { count = var.n }
resource "cloud_network" "b" {}
resource "thing" "x" { provider = cloud.west }
resource "old_thing" "x" {}
resource "terraform_data" "x" {}
data "cloud_network" "read" {}
module "net" { source = "./net" }
module "gone" { source = "./gone" }
`

func TestRead(t *testing.T) {
	t.Parallel()
	root := tree(t, map[string]string{
		"main.tf": rootModule, "more.tf.json": `{"resource": {"cloud_disk": {"d": {}}}}`, "only.tofu": `resource "tofu_only" "x" {}`,
		"sub/ignored.tf": `resource "ignored_x" "x" {}`, ".hidden.tf": "{{{", "README.md": "no configuration",
		"net/main.tf":                     `resource "cloud_subnet" "s" {}`,
		".terraform/modules/x/main.tf":    "terraform {\n  required_providers {\n    cloud = { source = \"elsewhere/cloud\" }\n  }\n}\nresource \"cloud_subnet\" \"s\" {}\n",
		".terraform/modules/modules.json": `{"Modules":[{"Key":"","Dir":"."},{"Key":"net","Dir":"net"},{"Key":"net.x","Dir":".terraform/modules/x"}]}`,
	})
	got := Read(root, filepath.Join(root, ".terraform"), false)
	want := Tree{
		Files: 2, Modules: 3, Backend: "s3", Required: []string{"elsewhere/cloud", "example/cloud", "hashicorp/old"}, Missing: []string{"module.gone"},
		Types: []Type{
			{"cloud_disk", "example/cloud"},
			{"cloud_network", "example/cloud"},
			{"cloud_subnet", "elsewhere/cloud"},
			{"cloud_subnet", "hashicorp/cloud"},
			{"old_thing", "hashicorp/old"},
			{"terraform_data", Builtin},
			{"thing", "example/cloud"},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Read (-want +got):\n%s", diff)
	}
	tofu := Read(root, filepath.Join(root, ".terraform"), true)
	if tofu.Files != 3 || tofu.Types[len(tofu.Types)-1].Name != "tofu_only" {
		t.Errorf("with the files of OpenTofu: %+v", tofu)
	}
}

func TestReadMistakes(t *testing.T) {
	t.Parallel()
	root := tree(t, map[string]string{"main.tf": "resource \"a_b\" \"c\" {}\n\nresource {", ".terraform/modules/modules.json": "nothing"})
	got := Read(root, filepath.Join(root, ".terraform"), false)
	if len(got.Mistakes) != 2 || !strings.Contains(got.Mistakes[1].Error(), "main.tf:3") {
		t.Errorf("mistakes %v", got.Mistakes)
	}
	if len(got.Types) != 1 {
		t.Errorf("what comes before the mistake is lost: %+v", got)
	}
	if none := Read(filepath.Join(root, "nowhere"), root, false); none.Files != 0 || len(none.Mistakes) == 0 {
		t.Errorf("a folder that is not there: %+v", none)
	}
	if empty := Read(t.TempDir(), root, false); empty.Files != 0 || len(empty.Mistakes) != 0 || empty.Types != nil {
		t.Errorf("an empty folder: %+v", empty)
	}
}
