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
	"github.com/tfweaver/tfweaver/internal/core/escrow"
	"github.com/tfweaver/tfweaver/internal/core/graph"
	"github.com/tfweaver/tfweaver/internal/journal/memjournal"
)

// Time is virtual here, so the tests say exactly when something happens. A record
// is at least a nanosecond later than the one before it, also where several are
// made at once.

// ended waits for the end of a session, and returns when that was by the clock of
// the bubble.
func ended(t *testing.T, w *coordinator.Watcher, s admission.SessionID) time.Time {
	t.Helper()
	for {
		e, err := w.Next(context.Background())
		if err != nil {
			t.Fatalf("Next: %v", err)
		}
		if x, ok := e.Event.(admission.SessionEnded); ok && x.Session == s {
			return time.Now()
		}
	}
}

func watch(t *testing.T, c *coordinator.Coordinator) *coordinator.Watcher {
	t.Helper()
	w, err := c.Watch(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Close)
	return w
}

// wantAt wants something to happen so long after a moment, up to the nanoseconds
// that records keep apart.
func wantAt(t *testing.T, what string, since, at time.Time, want time.Duration) {
	t.Helper()
	if got := at.Sub(since); got < want || got > want+8*time.Nanosecond {
		t.Errorf("%s after %s; want %s", what, got, want)
	}
}

// TestLeaseEndsOnTime: a lease ends when it is over since the last sign of life,
// to the nanosecond, and whoever waited goes on at that moment.
func TestLeaseEndsOnTime(t *testing.T) {
	t.Parallel()
	for _, renewals := range []int{0, 1, 5} {
		t.Run(fmt.Sprint("renewals=", renewals), func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, _ *memjournal.Store, c *coordinator.Coordinator) {
				w := watch(t, c)
				alice, bob := openFor(t, c, "alice", 10*time.Second), openFor(t, c, "bob", time.Hour)
				submit(t, c, alice, 1, coordinatortest.Create("n", "a"))
				_, f := submit(t, c, bob, 1, coordinatortest.Create("n", "b"))
				began := time.Now()
				for range renewals {
					time.Sleep(10*time.Second - time.Millisecond)
					left, err := c.Renew(context.Background(), alice.Session, "")
					if err != nil || left != 10*time.Second {
						t.Fatalf("Renew = %s, %v; want a full lease", left, err)
					}
				}
				want := time.Duration(renewals)*(10*time.Second-time.Millisecond) + 10*time.Second
				wantAt(t, "the session ends", began, ended(t, w, alice.Session), want)
				wantStatus(t, settled(t, f), admission.Admitted)
				wantAt(t, "the next one goes on", began, time.Now(), want)
			})
		})
	}
}

// TestStartAtTheEndOfTheLease: the last moment of a lease is still the session's,
// and the first one behind it is not.
func TestStartAtTheEndOfTheLease(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, _ *memjournal.Store, c *coordinator.Coordinator) {
		early, late := openFor(t, c, "early", 10*time.Second), openFor(t, c, "late", 10*time.Second)
		a, _ := submit(t, c, early, 1, coordinatortest.Create("n1", "a"))
		b, _ := submit(t, c, late, 1, coordinatortest.Create("n2", "b"))
		time.Sleep(10*time.Second - time.Microsecond)
		left, err := c.Start(context.Background(), early.Session, a.Tx, a.Token)
		if err != nil || left <= 0 || left > time.Microsecond {
			t.Errorf("Start a microsecond before the end: %s, %v", left, err)
		}
		time.Sleep(2 * time.Microsecond)
		_, err = c.Start(context.Background(), late.Session, b.Tx, b.Token)
		wantError(t, "Start a microsecond behind the end", err, admission.ErrNoSession)
		_, status, err := c.Explain(context.Background(), a.Tx)
		if err != nil || status != admission.Uncertain {
			t.Errorf("what had started is %s, %v; want uncertain", status, err)
		}
	})
}

// TestTakeOverOnTime: a new leader grants full leases from its beginning on,
// however much was left, and however long nobody led.
func TestTakeOverOnTime(t *testing.T) {
	t.Parallel()
	for _, away := range []time.Duration{0, 2 * time.Second, 24 * time.Hour} {
		t.Run(fmt.Sprint("away=", away), func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, store *memjournal.Store, c *coordinator.Coordinator) {
				alice := openFor(t, c, "alice", 10*time.Second)
				time.Sleep(9 * time.Second)
				shut(t, c)
				time.Sleep(away)
				next := start(t, store.Open())
				wantAt(t, "the session ends", time.Now(), ended(t, watch(t, next), alice.Session), 10*time.Second)
			})
		})
	}
}

// TestLeadingAnewOnTime: so does a leader that has lost its journal for a while.
// It tries at growing intervals, and nobody's lease ends meanwhile.
func TestLeadingAnewOnTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		j := counted()
		c := start(t, j)
		alice := openFor(t, c, "alice", 10*time.Second)
		w := watch(t, c)
		j.NoLead.Store(true)
		j.Gate(func(func() error) error { return errDisk })
		_, err := c.Renew(context.Background(), alice.Session, "")
		wantError(t, "Renew", err, coordinator.ErrUnavailable)
		began := time.Now()
		time.Sleep(time.Minute)
		j.Gate(nil)
		j.NoLead.Store(false)
		// The pauses are 10 ms, 20 ms, ... 640 ms, and then a second each, so
		// that it tries 60.27 s after the failure.
		wantAt(t, "the session ends", began, ended(t, w, alice.Session), 1270*time.Millisecond+59*time.Second+10*time.Second)
	})
}

// TestHowMuchOfAPauseIsForgiven: a coordinator that wakes a third of a lease late,
// at most five seconds, has been away; less than that it may be late.
func TestHowMuchOfAPauseIsForgiven(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		lease, jump time.Duration
		forgiven    bool
	}{
		"just too little, long lease":  {time.Minute, 5 * time.Second, false},
		"just enough, long lease":      {time.Minute, 5*time.Second + time.Nanosecond, true},
		"just too little, short lease": {6 * time.Second, 2 * time.Second, false},
		"just enough, short lease":     {6 * time.Second, 2*time.Second + time.Nanosecond, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var jump atomic.Int64
				co := start(t, memjournal.New(), func(config *coordinator.Config) {
					config.Clock = func() time.Time { return time.Now().Add(time.Duration(jump.Load())) }
				})
				w := watch(t, co)
				alice := openFor(t, co, "alice", c.lease)
				synctest.Wait()
				began := time.Now()
				jump.Store(int64(c.jump)) // the machine is suspended; its timers stand still
				want := c.lease - c.jump
				if c.forgiven { // the timer that wakes it was set to a sixth of the lease
					want = c.lease/6 + c.lease
				}
				wantAt(t, "the session ends", began, ended(t, w, alice.Session), want)
			})
		})
	}
}

// TestStaleGrace: a plan that the graph has moved under keeps its place for five
// seconds, and not longer.
func TestStaleGrace(t *testing.T) {
	t.Parallel()
	for _, late := range []time.Duration{0, 20 * time.Nanosecond} {
		t.Run(fmt.Sprint("late=", late), func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, _ *memjournal.Store, c *coordinator.Coordinator) {
				alice, bob, carol := openFor(t, c, "alice", time.Hour), openFor(t, c, "bob", time.Hour), openFor(t, c, "carol", time.Hour)
				held, _ := submit(t, c, alice, 1, coordinatortest.Create("n", "a"))
				request := coordinatortest.Guarded(coordinatortest.Create("n", "b"), admission.Version, coordinatortest.Subnet("n", "a"), 0)
				waits, f := submit(t, c, bob, 1, request)
				wantStatus(t, waits, admission.Queued)
				next, _ := submit(t, c, carol, 1, coordinatortest.Create("n", "c"))
				run(t, c, alice, held) // the object of the guard has another version now
				wantStatus(t, settled(t, f), admission.Stale)
				if _, err := c.Start(context.Background(), carol.Session, next.Tx, 2); err != nil {
					t.Fatalf("the next one: %v", err)
				}
				behind, _ := submit(t, c, alice, 2, coordinatortest.Create("n", "d"))
				time.Sleep(time.Duration(admission.StaleGrace) + late - 10*time.Nanosecond)
				again := coordinatortest.Create("n", "b")
				again.Key = 1
				d, f2, err := c.Submit(context.Background(), bob.Session, again, waits.Tx)
				if err != nil || f2 == nil {
					t.Fatalf("the stale one again: %+v, %v", d, err)
				}
				defer f2.Close()
				order := queue(t, c)
				want := []admission.TxID{waits.Tx, behind.Tx}
				if late > 0 {
					want = []admission.TxID{behind.Tx, waits.Tx}
				}
				if fmt.Sprint(order) != fmt.Sprint(want) {
					t.Errorf("the queue is %v; want %v", order, want)
				}
			})
		})
	}
}

// queue are the transactions that wait, in their order.
func queue(t *testing.T, c *coordinator.Coordinator) []admission.TxID {
	t.Helper()
	st, err := c.Status(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	var list []admission.TxID
	for _, tx := range st.Transactions {
		if tx.Status == admission.Queued {
			list = append(list, tx.ID)
		}
	}
	return list
}

// TestAbsenceSettlesOnTime: that an object is not there proves nothing before the
// call can have landed: ten seconds after its sender is known to be dead, or two
// hours after it was sent.
func TestAbsenceSettlesOnTime(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		dead bool
		wait time.Duration
	}{
		"sender dead":    {true, time.Duration(admission.DefaultLands)},
		"sender unknown": {false, time.Duration(admission.DefaultTimeout)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, _ *memjournal.Store, co *coordinator.Coordinator) {
				bob := openFor(t, co, "bob", 1000*time.Hour)
				gone, tx := lose(t, co, "alice", coordinatortest.Create("n", "a"))
				if c.dead {
					if _, err := co.Deceased(context.Background(), gone.Session, false); err != nil {
						t.Fatal(err)
					}
				}
				time.Sleep(c.wait - time.Microsecond)
				err := co.Settle(context.Background(), bob.Session, read(t, co, tx, false))
				var unsettled *admission.UnsettledError
				if !errors.As(err, &unsettled) {
					t.Fatalf("a microsecond too early: %v", err)
				}
				left := time.Until(time.Unix(0, unsettled.Earliest))
				if left <= 0 || left > time.Microsecond+8 {
					t.Errorf("it says to wait %s; want a microsecond", left)
				}
				time.Sleep(left)
				if err := co.Settle(context.Background(), bob.Session, read(t, co, tx, false)); err != nil {
					t.Errorf("on time: %v", err)
				}
			})
		})
	}
}

// TestWaitForUncertainFrees: who waits for capacity that only a call with an
// unknown outcome would free waits as long as the caller says, and goes on at the
// moment that call is settled.
func TestWaitForUncertainFrees(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, _ *memjournal.Store, c *coordinator.Coordinator) {
		alice, bob := openFor(t, c, "alice", 10*time.Second), openFor(t, c, "bob", 1000*time.Hour)
		bucket := coordinatortest.Addresses("n")
		net := graph.Decl{ID: coordinatortest.Network("n"), Parent: coordinatortest.Realm, Kind: graph.Resource, Type: "sim_network"}
		_, err := c.Observe(context.Background(), admission.Observe{
			Session: bob.Session, Began: c.Index(), Nodes: []graph.Decl{{ID: coordinatortest.Realm, Kind: graph.Realm}},
			Objects: []admission.Observation{{Decl: net, Exists: true}},
		})
		if err == nil {
			err = c.Measure(context.Background(), admission.Measure{
				Session: bob.Session, Began: c.Index(),
				Readings: []admission.Reading{{Bucket: bucket, Limit: escrow.At(5), Use: escrow.At(5)}},
			})
		}
		if err != nil {
			t.Fatal(err)
		}
		frees, _ := submit(t, c, alice, 1, coordinatortest.Consuming(coordinatortest.Write("n", "a", admission.Delete), bucket, -1))
		if _, err := c.Start(context.Background(), alice.Session, frees.Tx, frees.Token); err != nil {
			t.Fatal(err)
		}
		d, f := submit(t, c, bob, 1, coordinatortest.Consuming(coordinatortest.Create("n", "b"), bucket, 1))
		wantStatus(t, d, admission.Queued)
		began := time.Now()
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
		defer cancel()
		for err == nil {
			if d, err = f.Next(ctx); err == nil && !d.Waits() {
				t.Fatalf("it is %s after %s", d.Status, time.Since(began))
			}
		}
		wantError(t, "Next", err, context.DeadlineExceeded)
		wantAt(t, "the caller's patience is over", began, time.Now(), 10*time.Minute)
		began = time.Now()
		time.AfterFunc(20*time.Second, func() {
			if err := c.Resolve(context.Background(), frees.Tx, "carol", "looked", false); err != nil {
				t.Error(err)
			}
		})
		wantStatus(t, settled(t, f), admission.Admitted)
		wantAt(t, "it goes on", began, time.Now(), 20*time.Second)
	})
}
