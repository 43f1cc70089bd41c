// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package coordinator_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tfweaver/tfweaver/internal/coordinator"
	"github.com/tfweaver/tfweaver/internal/coordinator/coordinatortest"
	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/journal/memjournal"
)

// inBubble runs a coordinator in virtual time.
func inBubble(t *testing.T, f func(t *testing.T, store *memjournal.Store, c *coordinator.Coordinator)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		store := memjournal.NewStore()
		c := start(t, store.Open())
		f(t, store, c)
	})
}

// TestLeaseEnds: silence ends a session at its lease, not before, and lets the
// next one on.
func TestLeaseEnds(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, _ *memjournal.Store, c *coordinator.Coordinator) {
		alice, bob := openFor(t, c, "alice", 10*time.Second), openFor(t, c, "bob", time.Hour)
		held, _ := submit(t, c, alice, 1, coordinatortest.Create("n", "a"))
		_, f := submit(t, c, bob, 1, coordinatortest.Create("n", "b"))
		time.Sleep(9 * time.Second)
		synctest.Wait()
		if c.Live() != 2 {
			t.Fatal("the session ended before its lease")
		}
		if _, err := c.Renew(context.Background(), alice.Session, ""); err != nil {
			t.Fatal(err)
		}
		time.Sleep(9 * time.Second)
		synctest.Wait()
		if c.Live() != 2 {
			t.Fatal("a sign of life did not prolong the lease")
		}
		began := time.Now()
		wantStatus(t, settled(t, f), admission.Admitted)
		if took := time.Since(began); took < time.Second || took > 2*time.Second {
			t.Errorf("the next one went on after %s; want just over 1s", took)
		}
		_, err := c.Start(context.Background(), alice.Session, held.Tx, held.Token)
		if err == nil {
			t.Error("a call of the ended session was let start")
		}
		_, err = c.Renew(context.Background(), alice.Session, "")
		wantError(t, "Renew", err, admission.ErrNoSession)
	})
}

// TestRunningCallKeepsItsLocks: no timer frees the lock of a call that may be
// running (invariant I18); a person's word does.
func TestRunningCallKeepsItsLocks(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, _ *memjournal.Store, c *coordinator.Coordinator) {
		alice, bob := openFor(t, c, "alice", 10*time.Second), openFor(t, c, "bob", 1000*time.Hour)
		held, _ := submit(t, c, alice, 1, coordinatortest.Create("n", "a"))
		left, err := c.Start(context.Background(), alice.Session, held.Tx, held.Token)
		if err != nil || left <= 0 || left > 10*time.Second {
			t.Fatalf("Start = %s, %v", left, err)
		}
		_, f := submit(t, c, bob, 1, coordinatortest.Create("n", "b"))
		time.Sleep(100 * time.Hour)
		synctest.Wait()
		_, status, err := c.Explain(context.Background(), held.Tx)
		if err != nil || status != admission.Uncertain {
			t.Fatalf("the call is %s, %v; want uncertain", status, err)
		}
		if err := c.Resolve(context.Background(), held.Tx, "carol", "looked at it", true); err != nil {
			t.Fatal(err)
		}
		wantStatus(t, settled(t, f), admission.Admitted)
	})
}

// TestTakeOverGrantsAFullLease: nobody could renew while nobody led, be that
// for a moment or for long.
func TestTakeOverGrantsAFullLease(t *testing.T) {
	t.Parallel()
	for _, away := range []time.Duration{11 * time.Second, time.Hour} {
		t.Run(away.String(), func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, store *memjournal.Store, c *coordinator.Coordinator) {
				takeOverAfter(t, away, store, c)
			})
		})
	}
}

func takeOverAfter(t *testing.T, away time.Duration, store *memjournal.Store, c *coordinator.Coordinator) {
	t.Helper()
	alice := openFor(t, c, "alice", 10*time.Second)
	held, _ := submit(t, c, alice, 1, coordinatortest.Create("n", "a"))
	if _, err := c.Start(context.Background(), alice.Session, held.Tx, held.Token); err != nil {
		t.Fatal(err)
	}
	shut(t, c)
	time.Sleep(away)
	c = start(t, store.Open())
	time.Sleep(9 * time.Second)
	synctest.Wait()
	if _, err := c.Renew(context.Background(), alice.Session, "applying"); err != nil {
		t.Fatalf("Renew within the new lease: %v", err)
	}
	complete(t, c, alice, held)
	st, err := c.Status(context.Background())
	if err != nil || len(st.Sessions) != 1 || st.Sessions[0].Phase != "applying" {
		t.Errorf("status %+v, %v", st.Sessions, err)
	}
}

// TestPauseOfTheCoordinator: a machine that slept does not blame its sessions.
func TestPauseOfTheCoordinator(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var slept atomic.Int64
		c := start(t, memjournal.New(), func(config *coordinator.Config) {
			config.Clock = func() time.Time { return time.Now().Add(time.Duration(slept.Load())) }
		})
		alice := openFor(t, c, "alice", 10*time.Second)
		synctest.Wait()
		slept.Store(int64(time.Hour)) // the wall clock ran on, the timers did not
		time.Sleep(11 * time.Second)
		synctest.Wait()
		if c.Live() != 1 {
			t.Fatal("the session was ended for the coordinator's own pause")
		}
		if _, err := c.Renew(context.Background(), alice.Session, ""); err != nil {
			t.Fatal(err)
		}
		time.Sleep(11 * time.Second)
		synctest.Wait()
		if c.Live() != 0 {
			t.Error("the session's own silence goes unnoticed")
		}
	})
}

// TestPauseShorterThanALease: an overloaded machine may stand still for less
// than a lease. Whichever the coordinator hears first when it goes on, the timer
// or a command, it does not hold the silence against anybody, nor refuse the
// command of a session for it.
func TestPauseShorterThanALease(t *testing.T) {
	t.Parallel()
	for name, first := range map[string]func(c *coordinator.Coordinator, s coordinator.Opened, d coordinator.Decision) error{
		"timer": func(*coordinator.Coordinator, coordinator.Opened, coordinator.Decision) error { return nil },
		"command": func(c *coordinator.Coordinator, s coordinator.Opened, d coordinator.Decision) error {
			_, err := c.Start(context.Background(), s.Session, d.Tx, d.Token)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var slept atomic.Int64
				c := start(t, memjournal.New(), func(config *coordinator.Config) {
					config.Clock = func() time.Time { return time.Now().Add(time.Duration(slept.Load())) }
				})
				alice := openFor(t, c, "alice", 3*time.Second)
				held, _ := submit(t, c, alice, 1, coordinatortest.Create("n", "a"))
				time.Sleep(900 * time.Millisecond) // just before it would renew
				synctest.Wait()
				slept.Store(int64(2600 * time.Millisecond)) // past the lease, the machine stood still
				if err := first(c, alice, held); err != nil {
					t.Errorf("what was under way is refused: %v", err)
				}
				time.Sleep(2 * time.Second)
				synctest.Wait()
				if c.Live() != 1 {
					t.Fatal("the session was ended for the coordinator's own pause")
				}
				time.Sleep(3 * time.Second)
				synctest.Wait()
				if c.Live() != 0 {
					t.Error("the session's own silence goes unnoticed")
				}
			})
		})
	}
}
