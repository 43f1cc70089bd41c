// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package plugins

import (
	"testing"
	"time"
)

// restSince makes a configured process look as if it had been idle for a time.
func restSince(t *testing.T, p *Pool, name string, d time.Duration) {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	w := p.workers[key(name)]
	if w == nil {
		t.Fatalf("no process is configured as %s", name)
	}
	if !w.idleSince.IsZero() {
		w.idleSince = time.Now().Add(-d)
	}
}

// TestPoolThinsWhatEarlierWalksLeft: when another configuration comes, processes
// go that have been idle, but none that is at work or just was.
func TestPoolThinsWhatEarlierWalksLeft(t *testing.T) {
	t.Parallel()
	f := &fleet{}
	p := f.pool(t, time.Hour)
	names := []string{"old", "young", "busy", "pinned"}
	seats := map[string]*Seat{}
	processes := map[string]*fake{}
	for _, name := range names {
		seats[name] = p.Seat()
		configure(t, seats[name], name)
		processes[name] = ask(t, seats[name])
	}
	busy, _ := lease(t, seats["busy"])
	pinning, _ := lease(t, seats["pinned"])
	pinning.Pin()
	pinning.Release()
	for _, name := range []string{"old", "busy", "pinned"} {
		restSince(t, p, name, 2*crowdIdle)
	}
	unconfigured := ask(t, p.Seat())
	configure(t, p.Seat(), "next")
	eventually(t, "the old one ends", func() bool { return processes["old"].dead.Load() })
	for _, kept := range []*fake{processes["young"], processes["busy"], processes["pinned"], unconfigured} {
		if kept.dead.Load() {
			t.Errorf("process %d of %v was ended", kept.id, kept.config.Load())
		}
	}
	busy.Release()
	if again := ask(t, seats["old"]); again == processes["old"] || again.config.Load() != "old" {
		t.Errorf("its connection is served by %v", again.config.Load())
	}
}

// TestBriefSeat: its process does not wait for the time that others wait.
func TestBriefSeat(t *testing.T) {
	t.Parallel()
	f := &fleet{}
	p := f.pool(t, time.Hour)
	brief, other := p.BriefSeat(), p.Seat()
	configure(t, brief, "brief")
	configure(t, other, "other")
	first, second := ask(t, brief), ask(t, other)
	eventually(t, "it ends", func() bool { return first.dead.Load() })
	if second.dead.Load() {
		t.Error("the other one was ended, too")
	}
	if again := ask(t, brief); again == first || again.config.Load() != "brief" {
		t.Errorf("served by %v afterwards", again.config.Load())
	}
}
