// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package acceptance

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tfweaver/tfweaver/acceptance/fixture/journal"
	"github.com/tfweaver/tfweaver/acceptance/lab"
)

// The configurations of pooled: the third alias is configured as the first.
const (
	pooledTokens  = "pool-t0ken-"
	pooledConfigs = 3
	// pooledBound is how many processes of one provider may live at a time: the
	// unconfigured one, and one per configuration.
	pooledBound = 1 + pooledConfigs
)

// pooled uses a provider by its default configuration, by three aliases, one of
// them in a module, by a function and by an ephemeral resource.
func pooled(provider string) string {
	text := `
provider "@" {
  region = "main"
  token  = "` + pooledTokens + `main"
}

provider "@" {
  alias  = "one"
  region = "one"
  token  = "` + pooledTokens + `one"
}

provider "@" {
  alias  = "two"
  region = "two"
  token  = "` + pooledTokens + `two"
}

provider "@" {
  alias  = "three"
  region = "one"
  token  = "` + pooledTokens + `one"
}

ephemeral "@_token" "@" {
  provider = @.two
}

resource "@_thing" "main" {
  count            = 6
  name             = "@-main-${count.index}"
  password         = ephemeral.@_token.@.value
  password_version = 1
  fault            = "slow"
}

resource "@_thing" "one" {
  provider = @.one
  count    = 6
  name     = "@-one-${provider::@::shout(count.index)}"
  fault    = "slow"
}

resource "@_thing" "three" {
  provider = @.three
  count    = 6
  name     = "@-three-${count.index}"
}

module "@" {
  source = "./@"
  providers = {
    @ = @.two
  }
}

output "@" {
  value = {
    main  = @_thing.main[*].id
    one   = concat(@_thing.one[*].id, @_thing.three[*].id)
    two   = module.@.ids
  }
}
`
	return strings.ReplaceAll(text, "@", provider)
}

// pooledModule is the module of pooled.
func pooledModule(provider string) string {
	return strings.ReplaceAll(`terraform {
  required_providers {
    @ = {
      source = "tfweaver/@"
    }
  }
}

resource "@_thing" "in" {
  count = 6
  name  = "@-two-${count.index}"
}

output "ids" {
  value = @_thing.in[*].id
}
`, "@", provider)
}

// pooledWorkspace has both providers.
func pooledWorkspace(b *bench) *lab.Workspace {
	b.t.Helper()
	w := b.workspaceOf(b.Uninitialised("pooled", lab.FixturePreamble+pooled("five")+pooled("six")))
	for _, provider := range []string{"five", "six"} {
		if err := os.Mkdir(filepath.Join(w.Dir, provider), 0o700); err != nil {
			b.t.Fatal(err)
		}
		if err := w.Write(filepath.Join(provider, "main.tf"), pooledModule(provider)); err != nil {
			b.t.Fatal(err)
		}
	}
	if err := w.Init(b.ctx); err != nil {
		b.t.Fatal(err)
	}
	return w
}

// fixtureEvents are the journal's lines of one of the providers.
func (b *bench) fixtureEvents(provider string) []lab.FixtureEvent {
	b.t.Helper()
	all, err := b.FixtureJournal()
	if err != nil {
		b.t.Fatal(err)
	}
	of := map[int]bool{} // the processes of the provider
	for _, e := range all {
		if strings.HasPrefix(strings.TrimPrefix(e.Type, "data."), provider+"_") {
			of[e.PID] = true
		}
	}
	return slices.DeleteFunc(all, func(e lab.FixtureEvent) bool { return !of[e.PID] })
}

// mostAlive is the largest number of processes that a journal shows at a time.
func mostAlive(events []lab.FixtureEvent) (most int) {
	alive := map[int]bool{}
	for _, e := range events {
		switch e.What {
		case journal.Start:
			alive[e.PID] = true
		case journal.Stop:
			delete(alive, e.PID)
		}
		most = max(most, len(alive))
	}
	return most
}

// unmixed fails the test unless every process was configured in one way only.
func (b *bench) unmixed(events []lab.FixtureEvent) {
	b.t.Helper()
	configs := map[int]string{}
	for _, e := range events {
		if e.Config == "" {
			continue
		}
		if known := configs[e.PID]; known != "" && known != e.Config {
			b.t.Errorf("process %d was given two configurations", e.PID)
		}
		configs[e.PID] = e.Config
	}
}

// census counts the processes of the experiment by program until stop is called,
// which returns the most of each at a time.
func (b *bench) census() (stop func() map[string]int) {
	most, done, ended := map[string]int{}, make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			now := map[string]int{}
			if all, err := b.Processes(); err == nil {
				for _, p := range all {
					now[p.Program]++
				}
			}
			for program, n := range now {
				most[program] = max(most[program], n)
			}
			select {
			case <-done:
				return
			case <-time.After(10 * time.Millisecond):
			}
		}
	}()
	return func() map[string]int {
		close(done)
		<-ended
		return most
	}
}

// fewProcesses fails the test unless the processes of both providers stayed in
// their bound, and were in their number what the configuration asks for.
func (b *bench) fewProcesses(most map[string]int) {
	b.t.Helper()
	for _, provider := range []string{"five", "six"} {
		events := b.fixtureEvents(provider)
		b.unmixed(events)
		seen := most["terraform-provider-"+provider+"_v"+lab.ProviderVersion]
		noted := mostAlive(events)
		b.t.Logf("%s: at most %d processes seen and %d noted at a time", provider, seen, noted)
		if seen > pooledBound || noted > pooledBound {
			b.t.Errorf("%s: %d processes seen, %d noted at a time, want at most %d", provider, seen, noted, pooledBound)
		}
		if noted < pooledConfigs {
			b.t.Errorf("%s: %d processes noted at a time: either they are not counted, or configurations share one", provider, noted)
		}
	}
}

// TestProviderPool: connections pile up under the CLI, processes do not; and
// every object is made by the configuration that its resource names.
func TestProviderPool(t *testing.T) {
	t.Parallel()
	b := newBench(t, lab.Setup{Cloud: fast()})
	w := pooledWorkspace(b)
	stop := b.census()
	b.tfweaver(w, 0, "apply", "-auto-approve", "-no-color", "-parallelism=64")
	b.fewProcesses(stop())
	b.rightRegions(w)
	b.unchanged(w)
}

// rightRegions fails the test unless all objects are where their provider's
// configuration says.
func (b *bench) rightRegions(w *lab.Workspace) {
	b.t.Helper()
	var outputs map[string]struct {
		Value map[string][]string `json:"value"`
	}
	if err := json.Unmarshal([]byte(b.terraform(w, 0, "output", "-json").Stdout()), &outputs); err != nil {
		b.t.Fatal(err)
	}
	n := 0
	for _, provider := range []string{"five", "six"} {
		for region, ids := range outputs[provider].Value {
			for _, id := range ids {
				n++
				if !strings.HasPrefix(id, region+"/") {
					b.t.Errorf("%s is not in region %s", id, region)
				}
			}
		}
	}
	if n != 2*24 {
		b.t.Errorf("%d objects, want 48", n)
	}
}

// TestProviderPoolOfATest: a test makes many walks in one run of the CLI, which
// closes no connection meanwhile.
func TestProviderPoolOfATest(t *testing.T) {
	t.Parallel()
	b := newBench(t, lab.Setup{Cloud: fast()})
	w := pooledWorkspace(b)
	if err := w.Write("pool.tftest.hcl", `
run "plan" {
  command = plan
}

run "first" {
  assert {
    condition     = length(output.six.main) == 6
    error_message = "not all were made"
  }
}

run "second" {
  assert {
    condition     = alltrue([for id in output.five.two : startswith(id, "two/")])
    error_message = "configurations are mixed"
  }
}
`); err != nil {
		t.Fatal(err)
	}
	stop := b.census()
	run := b.tfweaver(w, 0, "test", "-no-color")
	b.fewProcesses(stop())
	if !strings.Contains(run.Stdout(), "3 passed, 0 failed") {
		t.Errorf("the test says %q", run.Stdout())
	}
	made, gone := 0, 0
	for _, e := range append(b.fixtureEvents("five"), b.fixtureEvents("six")...) {
		switch e.What {
		case journal.Create:
			made++
		case journal.Delete:
			gone++
		}
	}
	if made != 48 || gone != 48 {
		t.Errorf("%d things made and %d removed, want 48 of each", made, gone)
	}
}

// TestProviderConfigurationNotKnown: a provider that is configured by what
// another resource turns out to be gets one configuration while planning and
// another one while applying.
func TestProviderConfigurationNotKnown(t *testing.T) {
	t.Parallel()
	b := newBench(t, lab.Setup{Cloud: fast()})
	w := b.workspaceOf(b.FixtureWorkspace(b.ctx, "unknown", `
provider "five" {
  region = "base"
}

resource "five_thing" "base" {
  name = "base"
}

provider "six" {
  region = five_thing.base.id
}

resource "six_thing" "above" {
  count = 3
  name  = "above-${count.index}"
}

output "ids" {
  value = six_thing.above[*].id
}
`))
	b.tfweaver(w, 0, "apply", "-auto-approve", "-no-color")
	ids := b.terraform(w, 0, "output", "-json", "ids").Stdout()
	if strings.Count(ids, `"base/base/above-`) != 3 {
		t.Errorf("the things are %s", ids)
	}
	b.unmixed(b.fixtureEvents("six"))
	b.unchanged(w)
	b.tfweaver(w, 0, "destroy", "-auto-approve", "-no-color")
}

// TestProviderSecretsAreInNoLog: whatever is logged, the configuration is not.
func TestProviderSecretsAreInNoLog(t *testing.T) {
	t.Parallel()
	logs := filepath.Join(t.TempDir(), "trace.log")
	b := newBench(t, lab.Setup{Cloud: fast(), Env: []string{"TF_LOG=TRACE", "TFWEAVER_LOG=debug", "TF_LOG_PATH=" + logs}})
	w := pooledWorkspace(b)
	run := b.tfweaver(w, 0, "plan", "-no-color")
	text, err := os.ReadFile(logs)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), "provider.terraform-provider-six_v"+lab.ProviderVersion) {
		t.Error("the log has no lines of the provider")
	}
	if strings.Contains(string(text)+run.Said(), pooledTokens) {
		t.Error("the provider's token is in the log")
	}
}
