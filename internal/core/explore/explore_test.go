// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package explore

import (
	"errors"
	"os"
	"slices"
	"strconv"
	"testing"

	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/core/lock"
)

// budget scales the exploration: 1 is the short one that go test runs,
// EXPLORE_BUDGET=n takes n times as many configurations of each size.
func budget(t *testing.T) int {
	t.Helper()
	text := os.Getenv("EXPLORE_BUDGET")
	if text == "" {
		return 1
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("EXPLORE_BUDGET=%q is not a positive number", text)
	}
	return n
}

var queue, reject = admission.Queue, admission.Reject

// scenarios are histories worth exploring in full.
func scenarios() []*Config {
	both := []admission.Policy{queue, queue}
	return []*Config{
		scenario("paper", 0, 1, both, "s0 make-group", "s0 make-net", "s0 make-s1", "s1 make-s2"),
		scenario("crossing", 3, 2, both, "s0 join-sg-s1", "s1 change-s1", "s1 join-sg-s1"),
		scenario("reference", 2, 2, both, "s0 drop-s1", "s1 make-nic", "s1 drop-nic"),
		scenario("replace", 2, 1, both, "s1 drop-nic", "s0 drop-net", "s0 make-net", "s1 make-s2"),
		scenario("two makers", 1, 2, both, "s0 make-net-once", "s1 make-net-once", "s1 make-s1"),
		scenario("made again", 2, 1, []admission.Policy{queue, queue, queue}, "s0 make-s1", "s1 make-nic", "s2 change-nic"),
		scenario("lost while promised", 3, 2, []admission.Policy{queue, reject}, "s0 make-s1", "s1 join-sg-s1", "s1 drop-s1"),
		scenario("no patience", 1, 1, []admission.Policy{queue, reject}, "s0 make-net", "s1 make-s1", "s1 make-s2"),
	}
}

func TestScenarios(t *testing.T) {
	t.Parallel()
	limit := 9_000 * budget(t)
	for _, c := range scenarios() {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			stats, err := Explore(c, limit, nil)
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%d states, %d steps, capped %d", stats.States, stats.Steps, stats.Capped)
		})
	}
}

// TestGenerated explores configurations of two, three and four operations,
// chosen systematically, and tries every command in every state.
func TestGenerated(t *testing.T) {
	t.Parallel()
	b := budget(t)
	var total Stats
	cover := newCoverage()
	for _, part := range []struct{ size, stride, limit int }{
		{2, max(1, 13/b), 1_200 * b},
		{3, max(1, 1801/b), 2_000 * b},
		{4, max(1, 50021/b), 3_000 * b},
	} {
		for c := range Generate(part.size, part.stride) {
			stats, err := Explore(c, part.limit, cover)
			if err != nil {
				t.Fatal(err)
			}
			total.add(stats)
		}
	}
	t.Logf("%d configurations, %d distinct states, %d steps; %d capped", total.Configs, total.States, total.Steps, total.Capped)
	if m := cover.missing(); len(m) > 0 {
		t.Errorf("never tried: %v", m)
	}
}

// TestRulesWithAHole: a lock plan that leaves out what the operation touches is
// found, with the history that shows it. The judge looks at the cloud and not
// at the locks.
func TestRulesWithAHole(t *testing.T) {
	t.Parallel()
	c := scenario("no slot", 3, 0, []admission.Policy{queue, queue}, "s0 change-net", "s1 make-s2")
	for i := range c.Ops {
		c.Ops[i].wants = slices.DeleteFunc(c.Ops[i].wants, func(w lock.Want) bool { return w.Node == slot(net) })
	}
	_, err := Explore(c, 10_000, nil)
	var f *Finding
	var v *Violation
	if !errors.As(err, &f) || !errors.As(f.Cause, &v) || v.Invariant != "I2 NoProviderOverlap" {
		t.Fatalf("got %v", err)
	}
	const want = `no slot: I2 NoProviderOverlap: make-s2 starts while change-net may be running
  lower 0 (change-net of s0)
  submit 0 (change-net of s0)
  start 0 (change-net of s0)
  submit 1 (make-s2 of s1)
  start 1 (make-s2 of s1)
`
	if f.Error() != want {
		t.Errorf("the history is\n%s", f)
	}
}
