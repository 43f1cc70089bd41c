// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

//go:build unix

package lab

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// fakeCLI writes a program that answers "version" as a CLI does.
func fakeCLI(t *testing.T, dir, name, product, version string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	script := fmt.Sprintf("#!/bin/sh\n[ \"$1\" = version ] || exit 3\nif [ \"$2\" = -json ]; then echo '{\"terraform_version\":\"%[2]s\"}'; else echo '%[1]s v%[2]s'; fi\n", product, version)
	if err := os.WriteFile(path, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

// find looks for a CLI without being able to build one: the module it names has
// no tools.
func find(t *testing.T) (CLI, error) {
	t.Helper()
	return FindCLI(context.Background(), t.TempDir(), func(format string, args ...any) { t.Logf(format, args...) })
}

func TestCLIFromEnvironmentComesFirst(t *testing.T) {
	dir := t.TempDir()
	fakeCLI(t, dir, "terraform", "Terraform", "1.2.3")
	t.Setenv("PATH", dir+":/bin:/usr/bin")
	t.Setenv(EnvTerraform, fakeCLI(t, t.TempDir(), "mine", "OpenTofu", "9.9.9"))
	got, err := find(t)
	if err != nil || got.String() != "OpenTofu 9.9.9" || got.RegistryHost() != "registry.opentofu.org" {
		t.Errorf("found %v (%s), %v", got, got.RegistryHost(), err)
	}
}

func TestCLITerraformBeforeTofu(t *testing.T) {
	dir := t.TempDir()
	t.Setenv(EnvTerraform, "")
	t.Setenv("PATH", dir+":/bin:/usr/bin")
	fakeCLI(t, dir, "tofu", "OpenTofu", "1.9.0")
	if got, err := find(t); err != nil || got.Product != "OpenTofu" {
		t.Errorf("with tofu alone: %v, %v", got, err)
	}
	fakeCLI(t, dir, "terraform", "Terraform", "1.2.3")
	if got, err := find(t); err != nil || got.Path != filepath.Join(dir, "terraform") || got.RegistryHost() != "registry.terraform.io" {
		t.Errorf("with both: %v, %v", got, err)
	}
}

func TestCLIThatIsNone(t *testing.T) {
	t.Setenv(EnvTerraform, fakeCLI(t, t.TempDir(), "odd", "Odd", "1"))
	if got, err := find(t); err == nil || !strings.Contains(err.Error(), "neither Terraform nor OpenTofu") {
		t.Errorf("found %v, %v", got, err)
	}
}

// TestCLINoneAtAllMeansBuilding: the search ends at the pinned version.
func TestCLINoneAtAllMeansBuilding(t *testing.T) {
	t.Setenv(EnvTerraform, "")
	t.Setenv("PATH", t.TempDir())
	if got, err := find(t); err == nil || !strings.Contains(err.Error(), "version of OpenTofu") {
		t.Errorf("found %v, %v", got, err)
	}
}
