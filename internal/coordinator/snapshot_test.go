// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package coordinator_test

import (
	"context"
	"fmt"
	"io"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tfweaver/tfweaver/internal/coordinator"
	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/core/graph"
	"github.com/tfweaver/tfweaver/internal/journal"
	"github.com/tfweaver/tfweaver/internal/journal/memjournal"
)

// ledger is a journal that notes how much of what is written.
type ledger struct {
	journal.Journal
	mu      sync.Mutex
	records []int // the size of each
	saved   []savedSnapshot
	broken  bool // snapshots fail
	// gate, when set, holds every snapshot up until it is closed.
	gate chan struct{}
}

type savedSnapshot struct {
	at   journal.Index
	size int
}

func (l *ledger) Append(ctx context.Context, epoch journal.Epoch, after journal.Index, batch [][]byte) (journal.Index, error) {
	last, err := l.Journal.Append(ctx, epoch, after, batch)
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, data := range batch {
		l.records = append(l.records, len(data))
	}
	return last, err
}

func (l *ledger) SaveSnapshot(ctx context.Context, epoch journal.Epoch, at journal.Index, state io.Reader) error {
	if l.gate != nil {
		<-l.gate
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.broken {
		l.saved = append(l.saved, savedSnapshot{at: at})
		return journal.ErrUnknown
	}
	size := &tally{from: state}
	err := l.Journal.SaveSnapshot(ctx, epoch, at, size)
	l.saved = append(l.saved, savedSnapshot{at, size.read})
	return err
}

func (l *ledger) at() []journal.Index {
	l.mu.Lock()
	defer l.mu.Unlock()
	var list []journal.Index
	for _, s := range l.saved {
		list = append(list, s.at)
	}
	return list
}

func (l *ledger) last() savedSnapshot {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.saved) == 0 {
		return savedSnapshot{}
	}
	return l.saved[len(l.saved)-1]
}

// since is the size of the records after one.
func (l *ledger) since(at journal.Index) (sum int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, size := range l.records[at:] {
		sum += size
	}
	return sum
}

type tally struct {
	from io.Reader
	read int
}

func (t *tally) Read(p []byte) (int, error) {
	n, err := t.from.Read(p)
	t.read += n
	return n, err
}

// paced runs a coordinator with one session over a ledger, as long as play
// takes. renew makes one small record and waits until all is quiet.
func paced(t *testing.T, every uint64, play func(t *testing.T, l *ledger, c *coordinator.Coordinator, o coordinator.Opened, renew func())) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		l := &ledger{Journal: memjournal.New()}
		c, err := coordinator.New(t.Context(), coordinator.Config{Journal: l, SnapshotEvery: every})
		if err != nil {
			t.Fatal(err)
		}
		defer shut(t, c)
		o := openFor(t, c, "alice", 24*time.Hour)
		synctest.Wait()
		n := 0
		play(t, l, c, o, func() {
			n++
			if _, err := c.Renew(t.Context(), o.Session, fmt.Sprintf("phase %d", n)); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
		})
	})
}

// know lets the state grow by objects with long names, in one record.
func know(t *testing.T, c *coordinator.Coordinator, o coordinator.Opened, name string, objects int) {
	t.Helper()
	see := admission.Observe{
		Session: o.Session, Began: c.Index(), Nodes: []graph.Decl{{ID: "sim/sub-1", Kind: graph.Realm}},
	}
	for i := range objects {
		see.Objects = append(see.Objects, admission.Observation{
			Decl:   graph.Decl{ID: graph.NodeID(fmt.Sprintf("sim/sub-1/net/%s%0100d", name, i)), Parent: "sim/sub-1", Kind: graph.Resource, Type: "sim_network"},
			Exists: true,
		})
	}
	if _, err := c.Observe(t.Context(), see); err != nil {
		t.Fatal(err)
	}
	synctest.Wait()
}

// TestSnapshotPaceSmall: a small state is saved after as many records as were
// asked for, no earlier and no later, and not again at the end if nothing came.
func TestSnapshotPaceSmall(t *testing.T) {
	t.Parallel()
	paced(t, 5, func(t *testing.T, l *ledger, _ *coordinator.Coordinator, _ coordinator.Opened, renew func()) {
		for range 19 {
			renew()
		}
		if diff := cmp.Diff([]journal.Index{5, 10, 15, 20}, l.at()); diff != "" {
			t.Errorf("snapshots (-want +got):\n%s", diff)
		}
	})
}

// TestSnapshotPaceFailure: a snapshot that cannot be saved is tried again after
// as many records, not after each.
func TestSnapshotPaceFailure(t *testing.T) {
	t.Parallel()
	paced(t, 5, func(t *testing.T, l *ledger, _ *coordinator.Coordinator, _ coordinator.Opened, renew func()) {
		l.mu.Lock()
		l.broken = true
		l.mu.Unlock()
		for range 14 {
			renew()
		}
		l.mu.Lock()
		l.broken = false
		l.mu.Unlock()
		for range 5 {
			renew()
		}
		if diff := cmp.Diff([]journal.Index{5, 10, 15, 20}, l.at()); diff != "" {
			t.Errorf("snapshots (-want +got):\n%s", diff)
		}
	})
}

// TestSnapshotPaceMeanwhile: what was journalled while a snapshot was being saved
// counts for the next one, of which there is none in the meantime.
func TestSnapshotPaceMeanwhile(t *testing.T) {
	t.Parallel()
	paced(t, 3, func(t *testing.T, l *ledger, c *coordinator.Coordinator, o coordinator.Opened, renew func()) {
		l.gate = make(chan struct{})
		renew()
		know(t, c, o, "first", 6000) // the third record: its snapshot hangs
		know(t, c, o, "second", 30000)
		renew()
		if got := l.at(); got != nil {
			t.Fatalf("snapshots at %v beside the one under way", got)
		}
		close(l.gate)
		synctest.Wait()
		renew() // there is enough behind the first one
		if diff := cmp.Diff([]journal.Index{3, 6}, l.at()); diff != "" {
			t.Errorf("snapshots (-want +got):\n%s", diff)
		}
	})
}

// TestSnapshotPaceLarge: a state whose snapshot is large is saved when the
// records since are about as large as that, whatever their number, and after a
// restart the same holds.
func TestSnapshotPaceLarge(t *testing.T) {
	t.Parallel()
	paced(t, 3, func(t *testing.T, l *ledger, c *coordinator.Coordinator, o coordinator.Opened, renew func()) {
		renew()
		know(t, c, o, "first", 6000) // the third record
		first := l.last()
		if first.at != 3 || first.size < 1<<20 {
			t.Fatalf("the first snapshot is at %d with %d bytes; want 3 and more than 1 MiB", first.at, first.size)
		}
		waits := func() bool { return l.last() == first }
		grow := func(name string) {
			t.Helper()
			worth := 4*first.size - 1<<20 // of a state that is read again in no time
			for i := 0; waits(); i++ {
				if i > 300 {
					t.Fatalf("no snapshot although %d bytes of records follow one of %d", l.since(first.at), first.size)
				}
				know(t, c, o, fmt.Sprint(name, i), 500)
				due := l.since(first.at) >= worth && c.Index() >= uint64(first.at)+3
				if due == waits() {
					t.Fatalf("behind a snapshot of %d bytes, %d records with %d bytes: saved is %t", first.size,
						c.Index()-uint64(first.at), l.since(first.at), !waits())
				}
			}
		}
		for range 10 {
			renew()
		}
		if !waits() {
			t.Fatalf("%d small records led to another snapshot of %d bytes", c.Index()-uint64(first.at), first.size)
		}
		grow("second")
		first = l.last()
		grow("third")
	})
}

// TestSnapshotDue: of a very large state no more is read again than takes a
// moment longer than the state itself.
func TestSnapshotDue(t *testing.T) {
	t.Parallel()
	const mib = 1 << 20
	for _, c := range []struct {
		size    int
		records uint64
		bytes   int
		want    bool
	}{
		{0, 9, 0, false},
		{0, 10, 0, true},
		{mib, 10, 3*mib - 1, false},
		{mib, 10, 3 * mib, true},
		{200 * mib, 10, 215*mib - 1, false},
		{200 * mib, 10, 215 * mib, true},
		{200 * mib, 9, 500 * mib, false},
	} {
		if got := coordinator.Due(c.size, c.records, c.bytes, 10); got != c.want {
			t.Errorf("%d records of %d bytes behind a snapshot of %d: due is %t, want %t", c.records, c.bytes, c.size, got, c.want)
		}
	}
}
