// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package coordinator_test

import (
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tfweaver/tfweaver/internal/coordinator"
	"github.com/tfweaver/tfweaver/internal/coordinator/coordinatortest"
	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/journal"
	"github.com/tfweaver/tfweaver/internal/journal/memjournal"
)

var errDisk = errors.New("input/output error")

// TestUnknownAppend: when it is not known whether a batch was written, its
// callers are told so, and the state is read anew from the journal. Both
// truths are tried.
func TestUnknownAppend(t *testing.T) {
	t.Parallel()
	for _, written := range []bool{true, false} {
		t.Run(fmt.Sprintf("written=%t", written), func(t *testing.T) {
			t.Parallel()
			j := counted()
			c := start(t, j)
			alice, bob := open(t, c, "alice"), open(t, c, "bob")
			held, _ := submit(t, c, alice, 1, coordinatortest.Create("n1", "a"))
			_, waiting := submit(t, c, bob, 1, coordinatortest.Create("n1", "b"))
			epoch := c.Epoch()
			var failed atomic.Bool
			j.Gate(func(write func() error) error {
				if !failed.CompareAndSwap(false, true) {
					return write()
				}
				if written {
					if err := write(); err != nil {
						return err
					}
				}
				return errDisk
			})
			r := coordinatortest.Create("n2", "c")
			r.Key = 2
			_, _, err := c.Submit(within(t), alice.Session, r, "")
			wantError(t, "Submit", err, coordinator.ErrUnavailable)

			d, _ := submit(t, c, alice, 2, coordinatortest.Create("n2", "c"))
			wantStatus(t, d, admission.Admitted)
			if c.Epoch() <= epoch {
				t.Errorf("epoch %d after %d: it did not step down", c.Epoch(), epoch)
			}
			// Whoever waited before still does, and is told.
			run(t, c, alice, held)
			wantStatus(t, settled(t, waiting), admission.Admitted)
			wantReplay(t, j, c)
		})
	}
}

// wantReplay: a new coordinator over the same journal knows the same.
func wantReplay(t *testing.T, j journal.Journal, c *coordinator.Coordinator) {
	t.Helper()
	before, err := c.Status(within(t))
	if err != nil {
		t.Fatal(err)
	}
	after, err := start(t, j).Status(within(t))
	if err != nil {
		t.Fatal(err)
	}
	if len(before.Transactions) != len(after.Transactions) || len(before.Locks) != len(after.Locks) {
		t.Errorf("%d transactions and %d locks before, %d and %d after the replay",
			len(before.Transactions), len(before.Locks), len(after.Transactions), len(after.Locks))
	}
	for i, tx := range before.Transactions {
		if other := after.Transactions[i]; other.ID != tx.ID || other.Status != tx.Status || other.Token != tx.Token {
			t.Errorf("%s %s (%d) became %s %s (%d)", tx.ID, tx.Status, tx.Token, other.ID, other.Status, other.Token)
		}
	}
}

// TestFencedLeaderStopsDeciding: a leader that was superseded unnoticed gets
// nothing acknowledged that the successor does not know (invariant I15).
func TestFencedLeaderStopsDeciding(t *testing.T) {
	t.Parallel()
	store := memjournal.NewStore()
	c := start(t, store.Open())
	alice := open(t, c, "alice")
	d, _ := submit(t, c, alice, 1, coordinatortest.Create("n1", "a"))
	other := store.Open()
	if _, err := other.Lead(t.Context()); err != nil {
		t.Fatal(err)
	}
	_, err := c.Start(within(t), alice.Session, d.Tx, d.Token)
	wantError(t, "Start", err, coordinator.ErrUnavailable)
}

// TestRestart: everything is there again, by replay alone and from snapshots.
func TestRestart(t *testing.T) {
	t.Parallel()
	for _, every := range []uint64{1 << 40, 3} {
		t.Run(fmt.Sprintf("snapshot-every=%d", every), func(t *testing.T) {
			t.Parallel()
			store := memjournal.NewStore()
			often := func(config *coordinator.Config) { config.SnapshotEvery, config.Retain = every, 2 }
			c := start(t, store.Open(), often)
			alice, bob := open(t, c, "alice"), open(t, c, "bob")
			for i := range 20 {
				d, _ := submit(t, c, alice, uint64(i+1), coordinatortest.Create(fmt.Sprintf("n%d", i), "a"))
				run(t, c, alice, d)
			}
			held, _ := submit(t, c, alice, 100, coordinatortest.Create("n", "a"))
			if _, err := c.Start(within(t), alice.Session, held.Tx, held.Token); err != nil {
				t.Fatal(err)
			}
			waits, _ := submit(t, c, bob, 1, coordinatortest.Create("n", "b"))
			shut(t, c)

			c = start(t, store.Open(), often)
			// The call that was running is still known to run, and the same
			// key finds the one that waits.
			again, f := submit(t, c, bob, 1, coordinatortest.Create("n", "b"))
			if again.Tx != waits.Tx || !again.Waits() {
				t.Fatalf("%+v became %+v", waits, again)
			}
			complete(t, c, alice, held)
			wantStatus(t, settled(t, f), admission.Admitted)
		})
	}
}

// TestSnapshotInTheBackground: records are trimmed once a snapshot covers
// them, while the coordinator goes on.
func TestSnapshotInTheBackground(t *testing.T) {
	t.Parallel()
	store := memjournal.NewStore()
	reader := store.Open()
	c := start(t, store.Open(), func(config *coordinator.Config) { config.SnapshotEvery, config.Retain = 5, 3 })
	alice := open(t, c, "alice")
	trimmed := func() bool {
		for _, err := range reader.Read(t.Context(), 1) {
			return errors.Is(err, journal.ErrCompacted)
		}
		return false
	}
	for i := 0; !trimmed(); i++ {
		d, _ := submit(t, c, alice, uint64(i+1), coordinatortest.Create("n", fmt.Sprint(i)))
		run(t, c, alice, d)
		if t.Context().Err() != nil {
			t.Fatal("nothing is ever trimmed")
		}
	}
	if _, _, err := reader.LoadSnapshot(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestCloseRefusesAndAnswers: nobody is left hanging at the end.
func TestCloseRefusesAndAnswers(t *testing.T) {
	t.Parallel()
	c := start(t, counted())
	alice := open(t, c, "alice")
	submit(t, c, alice, 1, coordinatortest.Create("n", "a"))
	_, f := submit(t, c, alice, 2, coordinatortest.Create("n", "b"))
	w, err := c.Watch(within(t))
	if err != nil {
		t.Fatal(err)
	}
	shut(t, c)
	_, err = f.Next(within(t))
	wantError(t, "Next of a follower", err, coordinator.ErrUnavailable)
	_, err = w.Next(within(t))
	wantError(t, "Next of a watcher", err, coordinator.ErrUnavailable)
	_, err = c.Status(within(t))
	wantError(t, "Status", err, coordinator.ErrUnavailable)
	shut(t, c) // once more does no harm
}

// TestCloseWhileTheJournalFails: the end does not wait for a dead disk, and
// what was not written is in no snapshot either.
func TestCloseWhileTheJournalFails(t *testing.T) {
	t.Parallel()
	store := memjournal.NewStore()
	j := &coordinatortest.Journal{Journal: store.Open()}
	c := start(t, j)
	alice := open(t, c, "alice")
	j.NoLead.Store(true)
	j.Gate(func(func() error) error { return errDisk })
	r := coordinatortest.Create("n", "a")
	_, _, err := c.Submit(within(t), alice.Session, r, "")
	wantError(t, "Submit", err, coordinator.ErrUnavailable)
	shut(t, c)
	if _, _, err := store.Open().LoadSnapshot(t.Context()); !errors.Is(err, journal.ErrNoSnapshot) {
		t.Errorf("a state that ran ahead of the journal was saved (%v)", err)
	}
	st, err := start(t, store.Open()).Status(within(t))
	if err != nil || len(st.Transactions) != 0 || len(st.Sessions) != 1 {
		t.Errorf("after the restart: %+v, %v", st, err)
	}
}

// TestNewerJournalIsRefused: an old program does not lead what it does not
// understand.
func TestNewerJournalIsRefused(t *testing.T) {
	t.Parallel()
	j := memjournal.New()
	epoch, err := j.Lead(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	line := []byte(`{"format":99,"index":1,"now":1,"command":{"type":"expire","data":{}},"events":[]}`)
	if _, err := j.Append(t.Context(), epoch, 0, [][]byte{line}); err != nil {
		t.Fatal(err)
	}
	_, err = coordinator.New(within(t), coordinator.Config{Journal: j})
	wantError(t, "New", err, journal.ErrNewer)
}

// TestWatch: events come in order and with their index; a slow watcher is
// dropped and told so.
func TestWatch(t *testing.T) {
	t.Parallel()
	c := start(t, counted(), func(config *coordinator.Config) { config.WatchBuffer = 4 })
	alice := open(t, c, "alice")
	quick, err := c.Watch(within(t))
	if err != nil {
		t.Fatal(err)
	}
	defer quick.Close()
	slow, err := c.Watch(within(t))
	if err != nil {
		t.Fatal(err)
	}
	d, _ := submit(t, c, alice, 1, coordinatortest.Create("n", "a"))
	var last coordinator.Event
	for {
		e, err := quick.Next(within(t))
		if err != nil {
			t.Fatal(err)
		}
		if e.Index < last.Index {
			t.Errorf("index %d after %d", e.Index, last.Index)
		}
		last = e
		if admitted, ok := e.Event.(admission.TxAdmitted); ok {
			if admitted.Tx != d.Tx || e.Index != d.Index {
				t.Errorf("%+v at %d; want %s at %d", admitted, e.Index, d.Tx, d.Index)
			}
			break
		}
	}
	if line, err := last.MarshalJSON(); err != nil || !errors.Is(err, nil) || string(line[:21]) != `{"type":"tx_admitted"` {
		t.Errorf("as JSON: %s, %v", line, err)
	}
	run(t, c, alice, d)
	for err = nil; err == nil; {
		_, err = slow.Next(within(t))
	}
	wantError(t, "a slow watcher", err, coordinator.ErrSlow)
}

// clock is a clock that tests set.
type clock struct{ at atomic.Int64 }

func (c *clock) now() time.Time { return time.Unix(0, c.at.Load()) }

// TestTimeNeverGoesBack: records are ordered in time whatever the clock does
// (invariant I28).
func TestTimeNeverGoesBack(t *testing.T) {
	t.Parallel()
	var at clock
	at.at.Store(int64(1000 * time.Hour))
	j := memjournal.New()
	c := start(t, j, func(config *coordinator.Config) { config.Clock = at.now })
	alice := open(t, c, "alice")
	at.at.Store(int64(time.Hour))
	d, _ := submit(t, c, alice, 1, coordinatortest.Create("n", "a"))
	wantStatus(t, d, admission.Admitted)
	last := int64(0)
	for r, err := range j.Read(t.Context(), 1) {
		if err != nil {
			t.Fatal(err)
		}
		record, err := admission.DecodeRecord(r.Data)
		if err != nil || record.Now <= last {
			t.Errorf("record %d at %d follows %d, %v", r.Index, record.Now, last, err)
		}
		last = record.Now
	}
}

// TestNobodyWaitsForADeadDisk: while nothing can be written everybody is told so,
// and once it can be again everything goes on.
func TestNobodyWaitsForADeadDisk(t *testing.T) {
	t.Parallel()
	j := &coordinatortest.Journal{Journal: memjournal.New()}
	c := start(t, j)
	alice := open(t, c, "alice")
	watcher, err := c.Watch(within(t))
	if err != nil {
		t.Fatal(err)
	}
	j.NoLead.Store(true)
	j.Gate(func(func() error) error { return errDisk })
	_, _, err = c.Submit(within(t), alice.Session, coordinatortest.Create("n", "a"), "")
	wantError(t, "Submit", err, coordinator.ErrUnavailable)
	for range 3 {
		_, err = c.Renew(within(t), alice.Session, "")
		wantError(t, "Renew", err, coordinator.ErrUnavailable)
		_, err = c.Status(within(t))
		wantError(t, "Status", err, coordinator.ErrUnavailable)
	}
	watcher.Close()
	j.Gate(nil)
	j.NoLead.Store(false)
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		if _, err = c.Renew(within(t), alice.Session, ""); err == nil {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("it does not go on: %v", err)
		}
	}
}
