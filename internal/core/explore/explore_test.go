// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package explore

import (
	"errors"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/core/lock"
)

// setting is a number of the environment: EXPLORE_BUDGET=n explores n times as
// far as go test does by itself, EXPLORE_SEED=n begins with the runs of a seed.
func setting(t *testing.T, name string, otherwise int) int {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		t.Fatalf("%s=%q is not a number", name, text)
	}
	return n
}

// campaign explores configurations, of those that EXPLORE_ONLY=text names if it
// is set.
func campaign(t *testing.T, limit int, list []*Config) Outcome {
	t.Helper()
	only := os.Getenv("EXPLORE_ONLY")
	list = slices.DeleteFunc(list, func(c *Config) bool { return !strings.Contains(c.Name, only) })
	var jobs []Job
	for _, c := range list {
		worlds := limit * setting(t, "EXPLORE_BUDGET", 1)
		if c.Name == "made again" {
			worlds = 250_000 // all of it: what it shows is far down
		}
		jobs = append(jobs, Job{c, Limit{Worlds: worlds}})
	}
	out := Campaign{Jobs: jobs, Codec: 64, Workers: 1}.Run()
	if out.Finding != nil {
		t.Fatal(out.Finding)
	}
	t.Logf("%d configurations (%d capped), %d states, %d of the core, %d commands, %d steps",
		out.Configs, out.Capped, out.States, out.Cores, out.Edges, out.Steps)
	return out
}

func TestScenarios(t *testing.T) {
	t.Parallel()
	campaign(t, 20_000, Scenarios())
}

// TestGenerated explores configurations of the network of two, three and four
// operations, chosen systematically, and tries every command in every state.
func TestGenerated(t *testing.T) {
	t.Parallel()
	b := setting(t, "EXPLORE_BUDGET", 1)
	var list []*Config
	for _, part := range []struct{ size, stride int }{{2, 13}, {3, 1801}, {4, 50021}} {
		list = slices.AppendSeq(list, Networks(part.size, max(1, part.stride/b)))
	}
	out := campaign(t, 3_000, list)
	if len(out.Missing) > 0 && os.Getenv("EXPLORE_ONLY") == "" {
		t.Errorf("never tried: %v", out.Missing)
	}
}

// TestRuns explores whole runs, with replaces, capacity and mishaps.
func TestRuns(t *testing.T) {
	t.Parallel()
	list := Telling()
	if os.Getenv("EXPLORE_SEED") != "" {
		list = nil
	}
	list = slices.AppendSeq(list, Runs(setting(t, "EXPLORE_SEED", 0), 50*setting(t, "EXPLORE_BUDGET", 1)))
	campaign(t, 8_000, list)
}

// withHole is a configuration whose lock plans leave out what the operations
// touch.
func withHole() *Config {
	c := scenario("no slot", 3, 0, []admission.Policy{admission.Queue, admission.Queue}, "s0 change-net", "s1 make-s2")
	c.Journal = false
	for i := range c.Ops {
		c.Ops[i].wants = slices.DeleteFunc(c.Ops[i].wants, func(w lock.Want) bool { return w.Node == slot(net) })
	}
	return c
}

func find(t *testing.T, c *Config) *Finding {
	t.Helper()
	_, err := newSearch().explore(c, Limit{Worlds: 100_000}, newCoverage(1), 64)
	var f *Finding
	if !errors.As(err, &f) {
		t.Fatalf("%s: found %v", c.Name, err)
	}
	return f
}

// TestRulesWithAHole: a lock plan that leaves out what the operation touches is
// found, with the shortest history that shows it. The judge looks at the cloud
// and not at the locks.
func TestRulesWithAHole(t *testing.T) {
	t.Parallel()
	f := find(t, withHole())
	var v *Violation
	if !errors.As(f, &v) || v.Invariant != "I2 NoProviderOverlap" {
		t.Fatalf("got %v", f)
	}
	var got []string
	for _, m := range f.History {
		got = append(got, m.String())
	}
	slices.Sort(got)
	want := []string{
		"ask 0", "ask 1", "go 0", "go 1", "plan 0", "send 0", "send 1", "start 0", "start 1", "submit 0", "submit 1",
	}
	if !slices.Equal(got, want) {
		t.Errorf("the history is\n%s", f)
	}
}

// TestHolesOfTheShell: a leader that answers before the append, and a journal
// without a fence, are found.
func TestHolesOfTheShell(t *testing.T) {
	t.Parallel()
	for invariant, h := range map[string]holes{
		"I9 StartBeforeSend": {answerEarly: true},
		"I15 FencedLeader":   {unfenced: true},
	} {
		c := scenario(invariant, 3, 1, []admission.Policy{admission.Queue, admission.Queue}, "s0 change-net", "s1 make-s2")
		c.holes = h
		var v *Violation
		if f := find(t, c); !errors.As(f, &v) || v.Invariant != invariant {
			t.Errorf("%s: found %v", invariant, f)
		}
	}
}

// TestWorldsAreCanonical: two clients whose calls are independent may do their
// steps in any order; what counts are the worlds, not the ways there.
func TestWorldsAreCanonical(t *testing.T) {
	t.Parallel()
	c := scenario("independent", 3, 0, []admission.Policy{admission.Queue, admission.Queue}, "s0 make-nic", "s1 change-net")
	c.Journal = false
	c.prepare()
	k := newCore(c, newCoverage(1), 1)
	at, _, err := k.begin()
	if err != nil {
		t.Fatal(err)
	}
	first := []move{
		{mAsk, 0}, {mSubmit, 0}, {mPlan, 1}, {mAsk, 1}, {mSubmit, 1}, {mGo, 0}, {mStart, 0}, {mGo, 1}, {mStart, 1},
	}
	ways := [][]move{
		{{mSend, 0}, {mSend, 1}, {mLand, 0}, {mLand, 1}, {mAnswer, 0}, {mReport, 0}, {mAnswer, 1}, {mReport, 1}},
		{{mSend, 1}, {mLand, 1}, {mAnswer, 1}, {mSend, 0}, {mLand, 0}, {mAnswer, 0}, {mReport, 0}, {mReport, 1}},
	}
	var ends []world
	for _, way := range ways {
		w := newWorld(c, at)
		for _, m := range append(slices.Clone(first), way...) {
			if _, err := k.move(&w, m); err != nil {
				t.Fatal(err)
			}
		}
		ends = append(ends, w)
	}
	var b [keySize]byte
	if ends[0].key(&b) != ends[1].key(&b) {
		t.Errorf("two ends: %+v and %+v", ends[0], ends[1])
	}
	// A message that has arrived leaves nothing behind.
	if o := ends[0].ops[0]; o.flags != 0 || o.version != 0 || o.life != 0 {
		t.Errorf("left of a call that is over: %+v", o)
	}
}
