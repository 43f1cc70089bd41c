// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package lab

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// Checkout copies the project's sources, without what was built or applied in
// them, to a new folder of the experiment.
func (e *Experiment) Checkout() (string, error) {
	to := e.path("checkout")
	err := filepath.WalkDir(e.Lab.Module, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(e.Lab.Module, path)
		switch {
		case err != nil:
			return err
		case slices.Contains([]string{".git", "bin", "build", "dist"}, name), d.Name() == ".terraform":
			return filepath.SkipDir
		case d.IsDir():
			return os.MkdirAll(filepath.Join(to, name), 0o700)
		case !d.Type().IsRegular(), strings.Contains(name, ".tfstate"), d.Name() == ".terraform.lock.hcl":
			return nil
		}
		return copyFile(path, filepath.Join(to, name))
	})
	if err != nil {
		return "", fmt.Errorf("copy the checkout: %w", err)
	}
	return to, nil
}

// StartShell runs a script by bash in a folder, with the given standard input, as
// a user who has Go, make and the CLI and has set up nothing. The script ends with
// the first command that fails.
func (e *Experiment) StartShell(ctx context.Context, name, dir, script, input string, env ...string) (*Run, error) {
	r := newRun(exec.CommandContext(ctx, "bash", "-e", "-c", script), "shell", name)
	toolchain, err := toolchainEnv(ctx)
	if err != nil {
		return nil, err
	}
	r.cmd.Dir, r.cmd.Stdin = dir, strings.NewReader(input)
	r.cmd.Env = slices.Concat(e.bareEnvironment(), toolchain, env)
	together(r)
	if err := e.launch(r); err != nil {
		return nil, err
	}
	return r, nil
}

// bareEnvironment is that of a user who has a home and nothing else.
func (e *Experiment) bareEnvironment() []string {
	return slices.DeleteFunc(e.environment("somebody"), func(setting string) bool {
		name, _, _ := strings.Cut(setting, "=")
		return strings.HasPrefix(name, "SIMCLOUD_") || name == "TF_CLI_CONFIG_FILE" || name == "TF_INPUT" || name == "TFWEAVER_ACTOR"
	})
}

// toolchainEnv is what Go needs to use the caches that are there although HOME is
// another.
func toolchainEnv(ctx context.Context) ([]string, error) {
	names := []string{"GOCACHE", "GOMODCACHE", "GOPATH", "GOENV"}
	out, err := exec.CommandContext(ctx, "go", append([]string{"env"}, names...)...).Output()
	if err != nil {
		return nil, fmt.Errorf("ask Go for its settings: %w", err)
	}
	env := slices.DeleteFunc(os.Environ(), func(setting string) bool { return !strings.HasPrefix(setting, "GO") })
	for n, value := range strings.Split(strings.TrimRight(string(out), "\n"), "\n") {
		env = append(env, names[n]+"="+value)
	}
	return env, nil
}
