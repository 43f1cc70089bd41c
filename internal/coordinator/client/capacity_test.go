// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package client_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/tfweaver/tfweaver/internal/coordinator"
	"github.com/tfweaver/tfweaver/internal/coordinator/client"
	"github.com/tfweaver/tfweaver/internal/coordinator/coordinatortest"
	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/core/escrow"
)

// TestReservation: a plan's reservation waits as a call does, is never sent, and
// ends when it is withdrawn.
func TestReservation(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.serve()
	c := p.dial()
	alice, bob := open(t, c, client.SessionConfig{Actor: "alice"}), open(t, c, client.SessionConfig{Actor: "bob"})
	q := coordinatortest.Addresses("n")
	m, err := alice.Moment(within(t))
	if err != nil || m.Index == 0 || m.At == 0 {
		t.Fatalf("Moment = %+v, %v", m, err)
	}
	if err := alice.Measure(within(t), m.Index, []admission.Reading{{Bucket: q, Limit: escrow.At(20), Use: escrow.At(0)}}); err != nil {
		t.Fatal(err)
	}
	if err := alice.Measure(within(t), m.Index, nil); err != nil {
		t.Errorf("Measure of nothing: %v", err)
	}
	mine := grant(t, alice, coordinatortest.Reservation(coordinatortest.Consuming(coordinatortest.Create("n", "a"), q, 12)))
	wantError(t, "Start of a reservation", mine.Start(within(t)), client.ErrReservation)
	wantError(t, "Complete of a reservation", mine.Complete(within(t), client.Outcome{Result: admission.Succeeded}), client.ErrReservation)
	done, waits := wait(t, within(t), bob, coordinatortest.Reservation(coordinatortest.Consuming(coordinatortest.Create("n", "b"), q, 12)))
	if w := receive(t, "wait", waits); !w.Foreign || len(w.Report.Conflicts) == 0 {
		t.Errorf("waiting: %+v", w)
	}
	list, err := bob.Buckets(within(t), q)
	if err != nil || len(list) != 1 || list[0].Reserved != 12 || list[0].Limit != escrow.At(20) || len(list[0].Shares) != 1 || list[0].Shares[0].Actor != "alice" || list[0].ReadAt == 0 {
		t.Errorf("Buckets = %+v, %v", list, err)
	}
	call := grant(t, alice, coordinatortest.Planned(coordinatortest.Consuming(coordinatortest.Create("n", "a"), q, 12), mine.Tx()))
	finish(t, call)
	if err := mine.Withdraw(within(t)); err != nil {
		t.Fatal(err)
	}
	// 12 are in use for good.
	var refused *client.RejectedError
	if a := receive(t, "answer", done); !errors.As(a.err, &refused) {
		t.Errorf("Submit of what does not fit any more = %+v", a)
	}
	r, err := c.Report(within(t))
	if err != nil || r.Refused != 1 || len(r.Items) != 1 || r.Items[0].Reasons[0].Capacity == nil {
		t.Errorf("Report = %+v, %v", r, err)
	}
}

// TestPass: the waiting Submit and the one who passes get the same right.
func TestPass(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.serve()
	c := p.dial()
	alice, bob := open(t, c, client.SessionConfig{Actor: "alice"}), open(t, c, client.SessionConfig{Actor: "bob"})
	held := grant(t, alice, coordinatortest.Create("n", "a"))
	if held.Passed() != nil || held.Report() != nil {
		t.Errorf("a call that holds its locks passed: %+v", held)
	}
	done, waits := wait(t, within(t), bob, coordinatortest.Create("n", "b"))
	tx := receive(t, "wait", waits).Tx
	_, err := alice.Pass(within(t), tx, admission.Pass{Mode: "wait"})
	wantError(t, "Pass of another session's", err, coordinator.ErrForeign)
	for name, pass := range map[string]admission.Pass{
		"no mode": {}, "another mode": {Mode: "because"}, "an override by nobody": {Mode: "override"},
	} {
		if _, err := bob.Pass(within(t), tx, pass); err == nil {
			t.Errorf("%s was let pass", name)
		}
	}
	g, err := bob.Pass(within(t), tx, admission.Pass{Mode: "override", By: "bob", Reason: "incident", Of: tx})
	if err != nil || g.Tx() != tx {
		t.Fatalf("Pass = %+v, %v", g, err)
	}
	if p := g.Passed(); p == nil || p.By != "bob" || p.Reason != "incident" || g.Report() == nil {
		t.Errorf("how it passed: %+v, %+v", g.Passed(), g.Report())
	}
	a := receive(t, "answer", done)
	if a.err != nil || a.grant.Tx() != tx || a.grant.Passed() == nil {
		t.Fatalf("Submit = %+v", a)
	}
	finish(t, g)
}

// TestSettledByARead goes through a lost answer over the API.
func TestSettledByARead(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.serve()
	c := p.dial()
	alice, bob := open(t, c, client.SessionConfig{Actor: "alice"}), open(t, c, client.SessionConfig{Actor: "bob"})
	g := grant(t, alice, coordinatortest.Create("n", "a"))
	before, err := bob.Moment(within(t))
	if err != nil {
		t.Fatal(err)
	}
	if err := g.Start(within(t)); err != nil {
		t.Fatal(err)
	}
	if err := g.Complete(within(t), client.Outcome{Result: admission.Lost}); err != nil {
		t.Fatal(err)
	}
	done, waits := wait(t, within(t), bob, coordinatortest.Create("n", "b"))
	mine := receive(t, "wait", waits).Tx
	list, err := bob.Unsettled(within(t), mine)
	if err != nil || len(list) != 1 || list[0].Tx != g.Tx() || list[0].Dead {
		t.Fatalf("Unsettled = %+v, %v", list, err)
	}
	_, err = alice.Unsettled(within(t), mine)
	wantError(t, "Unsettled of another session's", err, coordinator.ErrForeign)
	read := admission.Settle{Tx: g.Tx(), Exists: true, Terminal: true}
	var unsettled *client.UnsettledError
	read.Began, read.BeganAt = before.Index, before.At
	if err := bob.Settle(within(t), read); !errors.As(err, &unsettled) || !errors.Is(err, admission.ErrUnsettled) || unsettled.After != 0 {
		t.Errorf("a read that began before the call: %v", err)
	}
	now, err := bob.Moment(within(t))
	if err != nil || now.Index <= before.Index || now.At < before.At {
		t.Fatalf("Moment = %+v after %+v, %v", now, before, err)
	}
	read.Began, read.BeganAt = now.Index, now.At
	for range 2 { // the second says the same again
		if err := bob.Settle(within(t), read); err != nil {
			t.Fatalf("Settle: %v", err)
		}
	}
	if r, _, err := c.Explain(within(t), g.Tx()); err != nil || r.Outcome == nil || r.Outcome.By != "bob" {
		t.Errorf("it was settled by %+v, %v", r.Outcome, err)
	}
	a := receive(t, "answer", done)
	if a.err != nil {
		t.Fatalf("Submit: %v", a.err)
	}
	finish(t, a.grant)
}

// TestImpatience: a wait that is broken off for its length is on record as a
// refusal.
func TestImpatience(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.serve()
	c := p.dial()
	alice, bob := open(t, c, client.SessionConfig{Actor: "alice"}), open(t, c, client.SessionConfig{Actor: "bob"})
	grant(t, alice, coordinatortest.Create("n", "a"))
	ctx, cancel := context.WithCancelCause(within(t))
	done, waits := wait(t, ctx, bob, coordinatortest.Create("n", "b"))
	receive(t, "wait", waits)
	cancel(fmt.Errorf("too slow: %w", client.ErrImpatient))
	if a := receive(t, "answer", done); !errors.Is(a.err, context.Canceled) {
		t.Errorf("Submit = %+v", a)
	}
	r, err := c.Report(within(t))
	if err != nil || r.Refused != 1 || r.Delayed != 0 {
		t.Errorf("Report = %+v, %v", r, err)
	}
}
