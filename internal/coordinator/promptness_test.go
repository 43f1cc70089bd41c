// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package coordinator_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tfweaver/tfweaver/internal/coordinator"
	"github.com/tfweaver/tfweaver/internal/coordinator/coordinatortest"
	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/journal"
	"github.com/tfweaver/tfweaver/internal/journal/memjournal"
)

// TestRefreshOnTime: that a place in the queue has changed is told a little later,
// an admission at once.
func TestRefreshOnTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := start(t, memjournal.New(), func(config *coordinator.Config) { config.Refresh = 250 * time.Millisecond })
		s := openFor(t, c, "alice", time.Hour)
		first, _ := submit(t, c, s, 1, coordinatortest.Create("n", "a"))
		second, f2 := submit(t, c, s, 2, coordinatortest.Create("n", "b"))
		_, f3 := submit(t, c, s, 3, coordinatortest.Create("n", "c"))
		wantStatus(t, second, admission.Queued)
		time.Sleep(time.Second) // what came of the submissions has been told
		began := time.Now()
		if err := c.Withdraw(context.Background(), s.Session, first.Tx, "test"); err != nil {
			t.Fatal(err)
		}
		wantStatus(t, settled(t, f2), admission.Admitted)
		wantAt(t, "the admission is told", began, time.Now(), 0)
		d, err := f3.Next(context.Background())
		if err != nil || !d.Waits() {
			t.Fatalf("Next = %+v, %v", d, err)
		}
		wantAt(t, "the new place is told", began, time.Now(), 250*time.Millisecond)
	})
}

// TestWatchBuffer: a watcher may lag behind by as many events as it was given,
// and not by one more.
func TestWatchBuffer(t *testing.T) {
	t.Parallel()
	for _, events := range []int{4, 5} {
		t.Run(fmt.Sprint("events=", events), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				c := start(t, memjournal.New(), func(config *coordinator.Config) { config.WatchBuffer = 4 })
				s := openFor(t, c, "alice", time.Hour)
				w := watch(t, c)
				for range events {
					if _, err := c.Renew(context.Background(), s.Session, ""); err != nil {
						t.Fatal(err)
					}
				}
				synctest.Wait()
				for range 4 {
					if _, err := w.Next(context.Background()); err != nil {
						t.Fatalf("what was kept: %v", err)
					}
				}
				ctx, cancel := context.WithTimeout(context.Background(), time.Second)
				defer cancel()
				_, err := w.Next(ctx)
				want := context.DeadlineExceeded // it is up to date, and waits
				if events > 4 {
					want = coordinator.ErrSlow
				}
				wantError(t, "behind what was kept", err, want)
			})
		})
	}
}

// stuck is a journal that does not answer before it is told to give up.
type stuck struct {
	journal.Journal
	on atomic.Bool
}

// Append implements journal.Journal.
func (j *stuck) Append(ctx context.Context, epoch journal.Epoch, after journal.Index, batch [][]byte) (journal.Index, error) {
	if j.on.Load() {
		<-ctx.Done()
		return 0, ctx.Err()
	}
	return j.Journal.Append(ctx, epoch, after, batch)
}

// TestCloseWhileWaiting: an end answers everybody who waits, at once; one that is
// held up by the journal does so when its time is over.
func TestCloseWhileWaiting(t *testing.T) {
	t.Parallel()
	for _, hangs := range []bool{false, true} {
		t.Run(fmt.Sprint("hangs=", hangs), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				j := &stuck{Journal: memjournal.New()}
				c, err := coordinator.New(context.Background(), coordinator.Config{Journal: j})
				if err != nil {
					t.Fatal(err)
				}
				s := openFor(t, c, "alice", time.Hour)
				submit(t, c, s, 1, coordinatortest.Create("n", "a"))
				_, f := submit(t, c, s, 2, coordinatortest.Create("n", "b"))
				w := watch(t, c)
				j.on.Store(hangs)
				began := time.Now()
				told := make(chan error, 3)
				go func() { _, err := f.Next(context.Background()); told <- err }()
				go func() { _, err := w.Next(context.Background()); told <- err }()
				go func() { _, err := c.Renew(context.Background(), s.Session, ""); told <- err }()
				if hangs {
					synctest.Wait() // the renewal is being written
				} else if err := <-told; err != nil { // and the other one has been told of it
					t.Fatal(err)
				}
				ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
				defer cancel()
				err = c.Close(ctx)
				want := time.Duration(0)
				if hangs {
					want = 3 * time.Second
					wantError(t, "Close", err, context.DeadlineExceeded)
				} else if err != nil {
					t.Fatal(err)
				}
				rest := 2
				if hangs {
					rest = 3
				}
				for range rest {
					if err := <-told; err != nil && !errors.Is(err, coordinator.ErrUnavailable) {
						t.Errorf("who waited is told %v", err)
					}
				}
				wantAt(t, "everybody is told", began, time.Now(), want)
			})
		})
	}
}
