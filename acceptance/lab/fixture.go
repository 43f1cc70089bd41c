// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package lab

import (
	"context"

	"github.com/tfweaver/tfweaver/acceptance/fixture/journal"
)

// envFixtureDir names the environment variable with the folder of the fixture
// providers.
const envFixtureDir = "FIXTURE_DIR"

// FixturePreamble is the Preamble of workspaces that also use the fixture
// providers: five speaks plugin protocol 5, six protocol 6. Neither has a
// provider block, so that a test can write its own.
const FixturePreamble = `terraform {
  required_providers {
    simcloud = {
      source = "tfweaver/simcloud"
    }
    five = {
      source = "tfweaver/five"
    }
    six = {
      source = "tfweaver/six"
    }
  }
}

provider "simcloud" {}
`

// FixtureEvent is a line of the fixture providers' journal.
type FixtureEvent = journal.Event

// FixtureDir is where the fixture providers keep their objects and their
// journal, unless the environment of a workspace names another folder.
func (e *Experiment) FixtureDir() string { return e.path("fixture") }

// FixtureJournal is what the fixture providers have noted so far, oldest first.
func (e *Experiment) FixtureJournal() ([]FixtureEvent, error) {
	return journal.Load(e.FixtureDir()) //nolint:wrapcheck // it says what was read
}

// FixtureWorkspace makes a workspace with the given configuration below the
// FixturePreamble and initialises it.
func (e *Experiment) FixtureWorkspace(ctx context.Context, actor, hcl string) (*Workspace, error) {
	return e.Below(ctx, FixturePreamble, actor, hcl)
}
