// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package coordinator_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tfweaver/tfweaver/internal/coordinator"
	"github.com/tfweaver/tfweaver/internal/coordinator/coordinatortest"
	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/core/lock"
	"github.com/tfweaver/tfweaver/internal/journal/memjournal"
)

// lose leaves a call of a closed session with an unknown outcome.
func lose(t *testing.T, c *coordinator.Coordinator, actor string, r admission.Request) (coordinator.Opened, admission.TxID) {
	t.Helper()
	s := openFor(t, c, actor, 1000*time.Hour)
	d, _ := submit(t, c, s, 1, r)
	wantStatus(t, d, admission.Admitted)
	if _, err := c.Start(context.Background(), s.Session, d.Tx, d.Token); err != nil {
		t.Fatal(err)
	}
	if _, err := c.CloseSession(context.Background(), s.Session); err != nil {
		t.Fatal(err)
	}
	return s, d.Tx
}

// read is what a session read just now.
func read(t *testing.T, c *coordinator.Coordinator, tx admission.TxID, exists bool) admission.Settle {
	t.Helper()
	m, err := c.Moment(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return admission.Settle{Tx: tx, Began: m.Index, BeganAt: m.At, Exists: exists, Terminal: true}
}

// TestPresenceSettles: a created object that is there needs no person, no
// override and no waiting.
func TestPresenceSettles(t *testing.T) {
	t.Parallel()
	c := start(t, counted())
	gone, tx := lose(t, c, "alice", coordinatortest.Create("n", "a"))
	bob, carol := open(t, c, "bob"), open(t, c, "carol")
	b, f := submit(t, c, bob, 1, coordinatortest.Create("n", "b"))
	wantStatus(t, b, admission.Queued)
	behind, _ := submit(t, c, carol, 1, coordinatortest.Create("n", "c"))
	for session, mine := range map[admission.SessionID]admission.TxID{bob.Session: b.Tx, carol.Session: behind.Tx} {
		list, err := c.Unsettled(within(t), session, mine)
		if err != nil || len(list) != 1 {
			t.Fatalf("Unsettled of %s = %+v, %v; want one call", mine, list, err)
		}
		u := list[0]
		if u.Tx != tx || u.Self.ID != coordinatortest.Subnet("n", "a") || u.Self.Type != "sim_subnet" || u.Type != "sim_subnet" ||
			u.Address != "sim_subnet.a" || u.Action != admission.Create || u.Session != gone.Session || u.Actor != "alice" ||
			u.Objective != "test" || u.Dead || u.After <= 0 {
			t.Errorf("Unsettled of %s = %+v", mine, u)
		}
	}
	_, err := c.Unsettled(within(t), carol.Session, b.Tx)
	wantError(t, "Unsettled of another session's", err, coordinator.ErrForeign)
	if err := c.Settle(within(t), bob.Session, read(t, c, tx, true)); err != nil {
		t.Fatal(err)
	}
	wantStatus(t, settled(t, f), admission.Admitted)
	if list, err := c.Unsettled(within(t), bob.Session, b.Tx); err != nil || len(list) != 0 {
		t.Errorf("Unsettled = %+v, %v; want nothing", list, err)
	}
	if err := c.Settle(within(t), carol.Session, read(t, c, tx, true)); err != nil {
		t.Errorf("the same again: %v", err)
	}
	err = c.Settle(within(t), gone.Session, read(t, c, tx, true))
	wantError(t, "Settle of an ended session", err, admission.ErrNoSession)
}

// TestAbsenceSettlesAfterDeath: that nothing is there proves nothing while
// somebody may still send, and something once the senders have been dead for
// long enough.
func TestAbsenceSettlesAfterDeath(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, _ *memjournal.Store, c *coordinator.Coordinator) {
		r := coordinatortest.Create("n", "a")
		r.Lands, r.Timeout = int64(time.Minute), int64(time.Hour)
		gone, tx := lose(t, c, "alice", r)
		bob := openFor(t, c, "bob", 1000*time.Hour)
		d, f := submit(t, c, bob, 1, coordinatortest.Create("n", "b"))
		after := func() coordinator.Unsettled {
			t.Helper()
			list, err := c.Unsettled(context.Background(), bob.Session, d.Tx)
			if err != nil || len(list) != 1 {
				t.Fatalf("Unsettled = %+v, %v", list, err)
			}
			return list[0]
		}
		refused := func(what string) {
			t.Helper()
			err := c.Settle(context.Background(), bob.Session, read(t, c, tx, false))
			var unsettled *admission.UnsettledError
			if !errors.As(err, &unsettled) || unsettled.Earliest == 0 {
				t.Fatalf("Settle %s: %v; want when to read", what, err)
			}
		}
		if u := after(); u.Dead || u.After < 59*time.Minute || u.After > time.Hour {
			t.Errorf("while nothing is known: %+v", u)
		}
		refused("while nothing is known")
		if said, err := c.Deceased(context.Background(), gone.Session, true); said || err != nil {
			t.Fatalf("Deceased with a call on its way = %v, %v", said, err)
		}
		if said, err := c.Deceased(context.Background(), gone.Session, false); !said || err != nil {
			t.Fatalf("Deceased = %v, %v", said, err)
		}
		if u := after(); !u.Dead || u.After < 59*time.Second || u.After > time.Minute {
			t.Errorf("after the death: %+v", u)
		}
		early := read(t, c, tx, false)
		refused("at the death")
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		if err := c.Settle(context.Background(), bob.Session, early); !errors.Is(err, admission.ErrUnsettled) {
			t.Fatalf("a read that began too early: %v", err)
		}
		if u := after(); u.After != 0 {
			t.Errorf("when a request cannot land any more: %+v", u)
		}
		if err := c.Settle(context.Background(), bob.Session, read(t, c, tx, false)); err != nil {
			t.Fatal(err)
		}
		wantStatus(t, settled(t, f), admission.Admitted)
	})
}

// TestDeceased: the death of an idle session ends it at once; it is on record
// once.
func TestDeceased(t *testing.T) {
	t.Parallel()
	j := counted()
	c := start(t, j)
	alice, bob := open(t, c, "alice"), open(t, c, "bob")
	submit(t, c, alice, 1, coordinatortest.Create("n", "a")) // admitted, not sent
	_, f := submit(t, c, bob, 1, coordinatortest.Create("n", "b"))
	ids := []admission.SessionID{alice.Session, bob.Session, "nobody"}
	if m, err := c.Mortal(within(t), ids); err != nil || !m[alice.Session] || !m[bob.Session] || m["nobody"] {
		t.Fatalf("Mortal = %v, %v", m, err)
	}
	for range 2 {
		if said, err := c.Deceased(within(t), alice.Session, true); !said || err != nil {
			t.Fatalf("Deceased = %v, %v", said, err)
		}
	}
	wantStatus(t, settled(t, f), admission.Admitted)
	if m, err := c.Mortal(within(t), ids); err != nil || m[alice.Session] || !m[bob.Session] {
		t.Errorf("Mortal = %v, %v", m, err)
	}
	_, err := c.Deceased(within(t), "nobody", true)
	wantError(t, "Deceased of nobody", err, admission.ErrNoSession)
}

// TestUncertainIsMortal: the death of a session that has ended still tells
// something while the outcome of a call of its own is open.
func TestUncertainIsMortal(t *testing.T) {
	t.Parallel()
	c := start(t, counted())
	gone, tx := lose(t, c, "alice", coordinatortest.Create("n", "a"))
	mortal := func() bool {
		t.Helper()
		m, err := c.Mortal(within(t), []admission.SessionID{gone.Session})
		if err != nil {
			t.Fatal(err)
		}
		return m[gone.Session]
	}
	if !mortal() {
		t.Error("nobody would look after an uncertain call's session")
	}
	other, _ := lose(t, c, "carol", coordinatortest.Create("m", "a"))
	if _, err := c.Deceased(within(t), other.Session, false); err != nil {
		t.Fatal(err)
	}
	if m, err := c.Mortal(within(t), []admission.SessionID{other.Session}); err != nil || m[other.Session] {
		t.Errorf("a session that is known to be dead is still looked after: %v, %v", m, err)
	}
	if err := c.Resolve(within(t), tx, "bob", "looked", true); err != nil {
		t.Fatal(err)
	}
	if mortal() {
		t.Error("an ended session without open calls is still looked after")
	}
}

// TestStatusSaysWhatSettles: people see what waits for what, too.
func TestStatusSaysWhatSettles(t *testing.T) {
	t.Parallel()
	c := start(t, counted())
	gone, tx := lose(t, c, "alice", coordinatortest.Create("n", "a"))
	if _, err := c.Deceased(within(t), gone.Session, false); err != nil {
		t.Fatal(err)
	}
	st, err := c.Status(within(t))
	if err != nil || len(st.Transactions) != 1 {
		t.Fatalf("Status = %+v, %v", st, err)
	}
	u := st.Transactions[0].Unsettled
	if u == nil || u.Tx != tx || !u.Dead || u.After > 10*time.Second || u.Actor != "alice" {
		t.Errorf("what settles %s: %+v", tx, u)
	}
}

// TestUnsettledOverWaiters: what a waiter waits for, those behind it wait for,
// too, though nothing of that stands in their own way.
func TestUnsettledOverWaiters(t *testing.T) {
	t.Parallel()
	c := start(t, counted())
	_, tx := lose(t, c, "alice", coordinatortest.Create("n", "a"))
	bob, carol := open(t, c, "bob"), open(t, c, "carol")
	both, more := coordinatortest.Create("n", "b"), coordinatortest.Create("m", "b")
	both.Nodes, both.Locks = append(both.Nodes, more.Nodes[1:]...), lock.Union(both.Locks, more.Locks)
	d, _ := submit(t, c, bob, 1, both)
	wantStatus(t, d, admission.Queued)
	behind, _ := submit(t, c, carol, 1, coordinatortest.Create("m", "c"))
	wantStatus(t, behind, admission.Queued)
	list, err := c.Unsettled(within(t), carol.Session, behind.Tx)
	if err != nil || len(list) != 1 || list[0].Tx != tx {
		t.Errorf("Unsettled = %+v, %v; want %s", list, err, tx)
	}
}

// TestSettleAfterTheAnswer: whoever reads what has been answered meanwhile has
// done nothing wrong.
func TestSettleAfterTheAnswer(t *testing.T) {
	t.Parallel()
	c := start(t, counted())
	alice, bob := open(t, c, "alice"), open(t, c, "bob")
	d, _ := submit(t, c, alice, 1, coordinatortest.Create("n", "a"))
	run(t, c, alice, d)
	if err := c.Settle(within(t), bob.Session, read(t, c, d.Tx, true)); err != nil {
		t.Errorf("Settle with the result of the answer: %v", err)
	}
	err := c.Settle(within(t), bob.Session, read(t, c, d.Tx, false))
	wantError(t, "Settle with another result", err, admission.ErrStatus)
}
