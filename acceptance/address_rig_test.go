// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package acceptance

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tfweaver/tfweaver/acceptance/fixture/journal"
	"github.com/tfweaver/tfweaver/acceptance/lab"
)

// addressPack makes a cloud of the fixture that takes one write of a thing or an
// account at a time, so that whoever is at it is in everybody's way. Nothing in it
// can be read back.
const addressPack = `pack "FX" {
  version  = "0.1.0"
  provider = "*/tfweaver/FX"

  realm {
    namespace = "fixture:"
    id        = "lab"
  }
}

resource "FX_thing" {
  id        = first_known(self.id, "${coalesce(provider.region, "nowhere")}/${self.name}")
  name      = self.name
  import_id = null
  parent "realm" {}

  error "spent" {
    match    = ["Out of things"]
    definite = true
    source   = "spent"
    why      = "The fixture has done nothing then"
  }

  on "write" {
    target "slot" {
      node   = parent
      facet  = "slot:write"
      mode   = "X"
      class  = "in_flight"
      until  = "operation"
      source = "busy"
      why    = "The fixture takes one write at a time"
    }
  }
}

resource "FX_account" {
  id                 = self.id
  known_after_create = true
  import_id          = null
  parent "realm" {}

  on "write" {
    target "slot" {
      node   = parent
      facet  = "slot:write"
      mode   = "X"
      class  = "in_flight"
      until  = "operation"
      source = "busy"
      why    = "The fixture takes one write at a time"
    }
  }
}
`

// addresses is a bench on which somebody is in the way of every change, for as
// long as a test likes.
type addresses struct {
	*bench
	fixture string
	rules   string
	release string // the file that ends the holder's change
}

func newAddresses(t *testing.T, fixture string) *addresses {
	t.Helper()
	a := &addresses{bench: newBench(t, lab.Setup{}), fixture: fixture}
	a.rules = filepath.Join(a.TempDir(), "rules")
	a.release = filepath.Join(a.TempDir(), "go")
	pack := filepath.Join(a.rules, fixture)
	if err := os.MkdirAll(pack, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(pack, "pack.hcl"), []byte(a.text(addressPack)), 0o600); err != nil {
		t.Fatal(err)
	}
	return a
}

// text puts the name of the fixture into a text.
func (a *addresses) text(text string) string { return strings.ReplaceAll(text, "FX", a.fixture) }

// of makes a workspace with a configuration, and more files beside it.
func (a *addresses) of(actor, hcl string, files map[string]string) *lab.Workspace {
	a.t.Helper()
	w := a.workspaceOf(a.Uninitialised(actor, a.text(fixtureOnly+hcl)))
	w.Env = append(w.Env, "TFWEAVER_RULES="+a.rules)
	for name, text := range files {
		if err := os.MkdirAll(filepath.Join(w.Dir, filepath.Dir(name)), 0o700); err != nil {
			a.t.Fatal(err)
		}
		if err := w.Write(name, a.text(text)); err != nil {
			a.t.Fatal(err)
		}
	}
	if err := w.Init(a.ctx); err != nil {
		a.t.Fatal(err)
	}
	return w
}

const fixtureOnly = `terraform {
  required_providers {
    FX = {
      source = "tfweaver/FX"
    }
  }
}
`

// configure replaces the configuration of a workspace.
func (a *addresses) configure(w *lab.Workspace, hcl string) {
	a.t.Helper()
	if err := w.Write("main.tf", a.text(fixtureOnly+hcl)); err != nil {
		a.t.Fatal(err)
	}
}

// hold has alice make a change that lasts until letGo.
func (a *addresses) hold() *lab.Run {
	a.t.Helper()
	w := a.of("alice", fmt.Sprintf("resource \"FX_thing\" \"blocker\" {\n  name = \"blocker\"\n  hold = %q\n}\n", a.release), nil)
	run := a.start(wovenFor("block the way"), w, "apply", "-auto-approve", "-no-color")
	err := lab.Await(a.ctx, "alice's change is under way", func() (bool, error) {
		return a.begun("blocker") || run.Exited(), nil
	})
	if err != nil || run.Exited() {
		a.t.Fatalf("alice's change is not under way: %v", err)
	}
	a.t.Cleanup(func() { a.letGo(run) }) // or it would be waited for
	return run
}

func (a *addresses) letGo(holder *lab.Run) {
	a.t.Helper()
	if err := os.WriteFile(a.release, nil, 0o600); err != nil && !holder.Exited() {
		a.t.Error(err)
	}
	if err := holder.Wait(); err != nil {
		a.t.Error(err)
	}
}

// begun says whether a change of an object has begun.
func (a *addresses) begun(name string) bool {
	events, err := a.FixtureJournal()
	if err != nil {
		a.t.Fatal(err)
	}
	return slices.ContainsFunc(events, func(e journal.Event) bool { return e.Name == name && e.IsChange() })
}

// refusedAll plans and applies that without waiting, once for people and once
// for programs, and fails the test unless the CLI's errors name all the
// addresses. It returns the run for programs.
func (a *addresses) refusedAll(w *lab.Workspace, plan []string, want ...string) *lab.Run {
	a.t.Helper()
	refused := func(format string) *lab.Run {
		a.terraform(w, 0, append([]string{"plan", "-out=p", "-no-color"}, plan...)...)
		return a.tfweaver(w, 1, "apply", format, "-weaver-wait=0s", "p")
	}
	people, programs := refused("-no-color"), refused("-json")
	errs := cliErrors(a.t, programs)
	for _, address := range want {
		address = a.text(address)
		if !strings.Contains(unwrapped(people.Said()), address) {
			a.t.Errorf("what people are told does not name %s", address)
		}
		if !slices.ContainsFunc(errs, func(text string) bool {
			return strings.Contains(text, address+" ") || strings.Contains(text, address+":")
		}) {
			a.t.Errorf("no error of the CLI's JSON lines names %s in its text: %q", address, errs)
		}
	}
	return programs
}

// cliErrors are the details of the errors that the CLI tells programs of.
func cliErrors(t *testing.T, r *lab.Run) (details []string) {
	t.Helper()
	for _, l := range addressLines(t, r) {
		if l.Type == "diagnostic" && l.Diagnostic.Severity == "error" {
			details = append(details, unwrapped(l.Diagnostic.Summary+" "+l.Diagnostic.Detail))
		}
	}
	return details
}

// addressLine is the part of a line of JSON that names addresses.
type addressLine struct {
	Type       string `json:"type"`
	Message    string `json:"@message"`
	Address    string `json:"address"`
	Diagnostic struct {
		Severity string `json:"severity"`
		Summary  string `json:"summary"`
		Detail   string `json:"detail"`
		Address  string `json:"address"`
	} `json:"diagnostic"`
}

func addressLines(t *testing.T, r *lab.Run) (lines []addressLine) {
	t.Helper()
	for text := range strings.Lines(r.Stdout()) {
		var l addressLine
		if err := json.Unmarshal([]byte(text), &l); err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		lines = append(lines, l)
	}
	return lines
}

// addressesIn are the addresses of the lines of a type, each once, sorted.
func addressesIn(t *testing.T, r *lab.Run, lineType string) (addresses []string) {
	t.Helper()
	for _, l := range addressLines(t, r) {
		if l.Type == lineType {
			addresses = append(addresses, l.Address)
		}
	}
	slices.Sort(addresses)
	return slices.Compact(addresses)
}
