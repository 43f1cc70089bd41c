// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package lab

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Playground is a folder from which a person tries tfweaver by hand: it makes the
// CLI find the provider of the simulated cloud, and nothing else of the person's
// machine is changed. Make it with Make.
type Playground struct {
	// Dir is the folder, Bin the one with the compiled programs. Both are
	// absolute.
	Dir, Bin string
	// Listen is the loopback host:port of the simulated cloud.
	Listen string
	// CLI is what the name terraform shall stand for.
	CLI CLI
}

// Env is the file to be sourced by a shell.
func (p Playground) Env() string { return filepath.Join(p.Dir, "env") }

// Cloud is the program that serves the simulated cloud.
func (p Playground) Cloud() string { return filepath.Join(p.Dir, "cloud") }

// Make writes the folder; what an earlier Make has written is replaced.
func (p Playground) Make() error {
	mirrored, config := filepath.Join(p.Dir, "mirror"), filepath.Join(p.Dir, "cli.tfrc")
	own := filepath.Join(p.Dir, "bin")
	if err := errors.Join(os.RemoveAll(mirrored), os.RemoveAll(own), os.MkdirAll(own, 0o700)); err != nil {
		return fmt.Errorf("make the playground: %w", err)
	}
	provider := filepath.Join(p.Bin, executable("terraform-provider-"+simcloudProvider))
	if err := mirror(mirrored, map[string]string{simcloudProvider: provider}); err != nil {
		return err
	}
	if err := writeCLIConfig(config, mirrored); err != nil {
		return err
	}
	if err := p.nameCLI(own); err != nil {
		return err
	}
	if err := os.WriteFile(p.Env(), []byte(p.exports(own, config)), 0o600); err != nil {
		return fmt.Errorf("make the playground: %w", err)
	}
	// Runnable by its owner: it is a program.
	if err := os.WriteFile(p.Cloud(), []byte(p.cloudScript()), 0o700); err != nil {
		return fmt.Errorf("make the playground: %w", err)
	}
	return nil
}

// nameCLI makes the CLI known as terraform where that name finds nothing, or
// something else.
func (p Playground) nameCLI(dir string) error {
	if found, err := exec.LookPath("terraform"); err == nil && found == p.CLI.Path {
		return nil
	}
	name := filepath.Join(dir, executable("terraform"))
	if err := os.Symlink(p.CLI.Path, name); err == nil {
		return nil
	}
	return linkOrCopy(p.CLI.Path, name)
}

// exports is the text of Env.
func (p Playground) exports(own, config string) string {
	path := own + string(os.PathListSeparator) + p.Bin + string(os.PathListSeparator)
	return "export PATH=" + quote(path) + "\"$PATH\"\n" +
		"export TF_CLI_CONFIG_FILE=" + quote(config) + "\n" +
		"export SIMCLOUD_ENDPOINT=" + quote("http://"+p.Listen) + "\n"
}

func (p Playground) cloudScript() string {
	return "#!/bin/sh\n" +
		"# The simulated cloud of the playground, until Ctrl-C; SCALE=0.2 takes a fifth of the time.\n" +
		"exec " + quote(filepath.Join(p.Bin, executable("simcloud"))) + " serve --listen " + quote(p.Listen) +
		" --scale \"${SCALE:-1}\" --quota westeurope=20 --log " + quote(p.Log()) + " \"$@\"\n"
}

// Log is the activity log of the simulated cloud.
func (p Playground) Log() string { return filepath.Join(p.Dir, "activity.jsonl") }

// quote makes a text one word of a shell.
func quote(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

// NewPlayground is the playground of a checkout, with the CLI that the lab would
// use. It writes nothing.
func NewPlayground(ctx context.Context, module, listen string, progress Progress) (Playground, error) {
	cli, err := FindCLI(ctx, module, progress)
	if err != nil {
		return Playground{}, err
	}
	return Playground{Dir: filepath.Join(module, "build", "playground"), Bin: filepath.Join(module, "bin"), Listen: listen, CLI: cli}, nil
}
