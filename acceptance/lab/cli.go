// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package lab

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// EnvTerraform names the environment variable that selects the Terraform CLI,
// for the lab as for tfweaver itself.
const EnvTerraform = "TFWEAVER_TERRAFORM"

// CLI is a Terraform or OpenTofu command line interface.
type CLI struct {
	Path string
	// Product is "Terraform" or "OpenTofu".
	Product string
	// Version is the semantic version, without a leading v.
	Version string
}

// String is product and version.
func (c CLI) String() string { return c.Product + " " + c.Version }

// RegistryHost is the host that provider source addresses without a host belong
// to: it differs between the two products.
func (c CLI) RegistryHost() string {
	if c.Product == "OpenTofu" {
		return tofuRegistry
	}
	return terraformRegistry
}

// The default provider registries of the two products.
const (
	terraformRegistry = "registry.terraform.io"
	tofuRegistry      = "registry.opentofu.org"
)

// FindCLI finds the CLI to test with: the one named by TFWEAVER_TERRAFORM, else
// terraform on PATH, else tofu on PATH, else OpenTofu built from its Go module
// and kept in the cache folder. The last takes minutes the first time.
func FindCLI(ctx context.Context, module string, progress Progress) (CLI, error) {
	if path := os.Getenv(EnvTerraform); path != "" {
		return identify(ctx, path)
	}
	for _, name := range []string{"terraform", "tofu"} {
		if path, err := exec.LookPath(name); err == nil {
			return identify(ctx, path)
		}
	}
	progress("no terraform and no tofu on PATH")
	path, err := BuildOpenTofu(ctx, module, progress)
	if err != nil {
		return CLI{}, fmt.Errorf("no terraform and no tofu on PATH (set %s to use one elsewhere): %w", EnvTerraform, err)
	}
	return identify(ctx, path)
}

// identify asks a binary what it is. Wrapper scripts that switch versions by
// folder (tfenv, tfswitch) are asked where they are used, so the answer of one
// moment is as good as any.
func identify(ctx context.Context, path string) (CLI, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return CLI{}, fmt.Errorf("find the CLI: %w", err)
	}
	text, err := ask(ctx, path, "version")
	if err != nil {
		return CLI{}, err
	}
	product, _, _ := strings.Cut(strings.TrimSpace(text), " ")
	if product != "Terraform" && product != "OpenTofu" {
		return CLI{}, fmt.Errorf("%s is neither Terraform nor OpenTofu: \"version\" says %q", path, tail(text, 3))
	}
	text, err = ask(ctx, path, "version", "-json")
	if err != nil {
		return CLI{}, err
	}
	var v struct {
		Version string `json:"terraform_version"`
	}
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		return CLI{}, fmt.Errorf("%s version -json: %w", path, err)
	}
	return CLI{Path: path, Product: product, Version: v.Version}, nil
}

// ask runs a harmless subcommand away from anybody's configuration.
func ask(ctx context.Context, path string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Dir = os.TempDir()
	cmd.Env = append(os.Environ(), "CHECKPOINT_DISABLE=1", "TF_CLI_CONFIG_FILE="+os.DevNull, "TF_CLI_ARGS=")
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w", path, strings.Join(args, " "), err)
	}
	return string(out), nil
}
