// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

//go:build !windows

package command

import (
	"path/filepath"
	"testing"

	"github.com/tfweaver/tfweaver/internal/journal/journaltest"
	"github.com/tfweaver/tfweaver/wrapper/arguments"
	"github.com/tfweaver/tfweaver/wrapper/terraform"
)

func TestConfigFileOfTheProduct(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	env := arguments.Environment{"HOME=" + home}
	common, own := filepath.Join(home, ".terraformrc"), filepath.Join(home, ".tofurc")
	if got := configFile(env, terraform.OpenTofu); got != common {
		t.Errorf("without one of its own: %s", got)
	}
	write(t, own, "provider_installation {\n  dev_overrides {\n    \"example/x\" = \"/x\"\n  }\n}\n", 0o600)
	for product, want := range map[terraform.Product]string{terraform.Terraform: common, terraform.OpenTofu: own} {
		if got := configFile(env, product); got != want {
			t.Errorf("%s: %s, want %s", product, got, want)
		}
		found, err := devOverrides(env, product)
		if err != nil || (len(found) == 1) != (product == terraform.OpenTofu) {
			t.Errorf("%s: %v, %v", product, found, err)
		}
	}
	if got := configFile(env.With("TF_CLI_CONFIG_FILE", "/rc"), terraform.OpenTofu); got != "/rc" {
		t.Errorf("named: %s", got)
	}
}

// TestConfigFileThatMayNotBeRead is as good as none: the CLI warns of it, and goes
// on.
func TestConfigFileThatMayNotBeRead(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	write(t, filepath.Join(home, ".terraformrc"), "dev_overrides {\n}\n", 0)
	journaltest.Ordinary(t, func() {
		if found, err := devOverrides(arguments.Environment{"HOME=" + home}, terraform.Terraform); err != nil || len(found) != 0 {
			t.Errorf("%v, %v", found, err)
		}
	})
}
