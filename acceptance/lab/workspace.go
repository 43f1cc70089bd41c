// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package lab

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Workspace is one Terraform root module with a state of its own, applied by
// one actor.
type Workspace struct {
	// Actor is the name under which the cloud and the coordinator know who
	// applies; also the name of the folder.
	Actor string
	Dir   string
	// Env is added to the environment of its runs, and stronger than that of the
	// experiment.
	Env []string
	// home is that of its runs, if it is not the experiment's.
	home string
	// preamble is what Configure puts the configuration below.
	preamble string
	of       *Experiment
}

// Preamble is the configuration that every workspace needs: which provider, and
// that all settings come from the environment.
const Preamble = `terraform {
  required_providers {
    simcloud = {
      source = "tfweaver/simcloud"
    }
  }
}

provider "simcloud" {}
`

// Workspace makes one with the given configuration, below which the preamble is
// put, and initialises it.
func (e *Experiment) Workspace(ctx context.Context, actor, hcl string) (*Workspace, error) {
	return e.Below(ctx, Preamble, actor, hcl)
}

// Below makes a workspace with the given configuration below a preamble, and
// initialises it: what init does is done once for each preamble.
func (e *Experiment) Below(ctx context.Context, preamble, actor, hcl string) (*Workspace, error) {
	w, err := e.Uninitialised(actor, preamble+"\n"+hcl)
	if err != nil {
		return nil, err
	}
	w.preamble = preamble
	template, err := e.Lab.template(ctx, e, preamble)
	if err != nil {
		return nil, err
	}
	return w, w.initialiseLike(template)
}

// Elsewhere makes a workspace whose runs live in a home of their own, as on
// another machine: they share nothing with those of other workspaces but the cloud.
func (e *Experiment) Elsewhere(ctx context.Context, actor, hcl string) (*Workspace, error) {
	w, err := e.Workspace(ctx, actor, hcl)
	if err != nil {
		return nil, err
	}
	w.home = e.path("h-" + actor)
	if err := makeHome(w.home); err != nil {
		return nil, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.homes = append(e.homes, w.home)
	return w, nil
}

// makeHome makes what a home consists of.
func makeHome(home string) error {
	for _, dir := range []string{"", "run", "state", "tmp"} {
		if err := os.MkdirAll(filepath.Join(home, dir), 0o700); err != nil {
			return fmt.Errorf("make a home: %w", err)
		}
	}
	return nil
}

// environment is that of the workspace's runs.
func (w *Workspace) environment() []string {
	env := w.of.environment(w.Actor)
	if w.home != "" {
		env = append(env, homeEnvironment(w.home)...)
	}
	return append(env, w.Env...)
}

// Home is the home of the workspace's runs.
func (w *Workspace) Home() string {
	if w.home != "" {
		return w.home
	}
	return w.of.home
}

// Uninitialised makes a workspace with exactly the given configuration and runs
// no init.
func (e *Experiment) Uninitialised(actor, hcl string) (*Workspace, error) {
	w := &Workspace{Actor: actor, Dir: e.path("w-" + actor), preamble: Preamble, of: e}
	if err := os.Mkdir(w.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("make workspace %s: %w", actor, err)
	}
	return w, w.Write("main.tf", hcl)
}

// FromFolder makes a workspace with the files of a folder, and initialises it.
func (e *Experiment) FromFolder(ctx context.Context, actor, folder string) (*Workspace, error) {
	w := &Workspace{Actor: actor, Dir: e.path("w-" + actor), preamble: Preamble, of: e}
	if err := os.CopyFS(w.Dir, os.DirFS(folder)); err != nil {
		return nil, fmt.Errorf("make workspace %s: %w", actor, err)
	}
	return w, w.Init(ctx)
}

// Write puts a file into the workspace.
func (w *Workspace) Write(name, text string) error {
	if name == lockFile {
		w.Unlocked()
	}
	if err := os.WriteFile(filepath.Join(w.Dir, name), []byte(text), 0o600); err != nil {
		return fmt.Errorf("workspace %s: %w", w.Actor, err)
	}
	return nil
}

// Configure replaces the configuration below the preamble.
func (w *Workspace) Configure(hcl string) error {
	return w.Write("main.tf", w.preamble+"\n"+hcl)
}

// Init installs the provider.
func (w *Workspace) Init(ctx context.Context) error {
	run, err := w.Terraform(ctx, "init", "-no-color")
	if err != nil {
		return err
	}
	return errors.Join(run.MustSucceed(), w.locked())
}

// Resources are the addresses in the workspace's state.
func (w *Workspace) Resources(ctx context.Context) ([]string, error) {
	run, err := w.Terraform(ctx, "state", "list")
	if err != nil {
		return nil, err
	}
	if strings.Contains(run.Stderr(), "No state file was found") {
		return nil, nil
	}
	return strings.Fields(run.Stdout()), run.MustSucceed()
}
