// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package bboltjournal

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// maxLife is how long a writer may live before it is killed. It is long enough
// for some snapshots.
const maxLife = 120 * time.Millisecond

// killAtRandom kills one writer per round, each a random time after its start,
// and checks the journal after each.
func killAtRandom(t *testing.T, dir string, rounds int, seed int64) {
	t.Helper()
	random := rand.New(rand.NewPCG(uint64(seed), 1))
	var w witness
	written, unknown := 0, 0
	for round := range rounds {
		c := startChild(t, "endless", dir)
		killed := time.AfterFunc(time.Duration(random.Int64N(int64(maxLife))), func() { _ = c.cmd.Process.Kill() })
		for c.lines.Scan() {
			w.hear(c.lines.Text())
			if strings.HasPrefix(c.lines.Text(), "error") {
				t.Error(c.lines.Text())
			}
		}
		killed.Stop()
		c.kill(&w)
		written += int(w.wrote - w.found)
		if w.tried > w.wrote {
			unknown++
		}
		w.check(t, dir)
		if t.Failed() {
			t.Fatalf("round %d", round+1)
		}
		if (round+1)%25 == 0 {
			t.Logf("round %d of %d: killed within a write %d times", round+1, rounds, unknown)
		}
	}
	if written == 0 && rounds >= defaultRounds {
		t.Error("no writer ever wrote anything")
	}
}
