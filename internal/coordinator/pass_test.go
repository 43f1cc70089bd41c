// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package coordinator_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/tfweaver/tfweaver/internal/coordinator"
	"github.com/tfweaver/tfweaver/internal/coordinator/coordinatortest"
	"github.com/tfweaver/tfweaver/internal/core/admission"
)

// TestPass: whoever has waited enough goes on without its locks, and said
// twice it is the same right.
func TestPass(t *testing.T) {
	t.Parallel()
	// Nobody is told by chance.
	c := start(t, counted(), func(config *coordinator.Config) { config.Refresh = time.Hour })
	alice, bob := open(t, c, "alice"), open(t, c, "bob")
	held, _ := submit(t, c, alice, 1, coordinatortest.Create("n", "a"))
	waits, f := submit(t, c, bob, 1, coordinatortest.Create("n", "b"))
	pass := admission.Pass{Mode: "wait"}
	_, err := c.Pass(within(t), alice.Session, waits.Tx, pass)
	wantError(t, "Pass of another session's", err, coordinator.ErrForeign)
	first, err := c.Pass(within(t), bob.Session, waits.Tx, pass)
	if err != nil {
		t.Fatal(err)
	}
	wantStatus(t, first, admission.Admitted)
	if first.Passed == nil || first.Passed.Mode != "wait" || first.Token == 0 || first.Report == nil {
		t.Errorf("Pass = %+v", first)
	}
	if again, err := c.Pass(within(t), bob.Session, waits.Tx, pass); err != nil || again.Token != first.Token {
		t.Errorf("again: %+v, %v", again, err)
	}
	told := settled(t, f)
	wantStatus(t, told, admission.Admitted)
	if told.Token != first.Token || told.Passed == nil {
		t.Errorf("the one who waits is told %+v", told)
	}
	ordinary, err := c.Pass(within(t), alice.Session, held.Tx, pass)
	if err != nil || ordinary.Token != held.Token || ordinary.Passed != nil {
		t.Errorf("Pass of what holds its locks = %+v, %v", ordinary, err)
	}
	run(t, c, alice, held)
	_, err = c.Pass(within(t), alice.Session, held.Tx, pass)
	wantError(t, "Pass of what has ended", err, admission.ErrStatus)
	if _, err := c.CloseSession(within(t), bob.Session); err != nil {
		t.Fatal(err)
	}
	_, err = c.Pass(within(t), bob.Session, waits.Tx, pass)
	wantError(t, "Pass of an ended session", err, admission.ErrNoSession)
}

// fail runs an admitted call that the provider answers with an error.
func fail(t *testing.T, c *coordinator.Coordinator, s coordinator.Opened, d coordinator.Decision) {
	t.Helper()
	if _, err := c.Start(within(t), s.Session, d.Tx, d.Token); err != nil {
		t.Fatal(err)
	}
	if err := c.Complete(within(t), s.Session, coordinator.Outcome{Tx: d.Tx, Token: d.Token, Result: admission.Errored}); err != nil {
		t.Fatal(err)
	}
}

// TestReport: each transaction that something was in the way of is told once,
// with whom it is due to and how it ended.
func TestReport(t *testing.T) {
	t.Parallel()
	c := start(t, counted())
	alice, bob, carol := open(t, c, "alice"), open(t, c, "bob"), open(t, c, "carol")
	held, _ := submit(t, c, alice, 1, coordinatortest.Create("n", "a"))
	// It waits, and then the provider fails it.
	delayed, f := submit(t, c, bob, 1, coordinatortest.Create("n", "b"))
	// It only observes.
	advisory := coordinatortest.Create("n", "c")
	advisory.Advisory = true
	observed, _ := submit(t, c, carol, 1, advisory)
	wantStatus(t, observed, admission.Admitted)
	if observed.Passed == nil || observed.Report == nil || !observed.Foreign {
		t.Errorf("observed: %+v", observed)
	}
	run(t, c, alice, held)
	fail(t, c, bob, settled(t, f))
	// It is refused: the object is known to be in another life.
	refused, _ := submit(t, c, bob, 2, coordinatortest.Guarded(coordinatortest.Write("n", "a", admission.Update), admission.SameLife, coordinatortest.Subnet("n", "a"), 99))
	wantStatus(t, refused, admission.Rejected)
	// It would be refused.
	would := coordinatortest.Guarded(coordinatortest.Write("n", "a", admission.Update), admission.SameLife, coordinatortest.Subnet("n", "a"), 98)
	would.Advisory = true
	passed, _ := submit(t, c, carol, 2, would)
	wantStatus(t, passed, admission.Admitted)
	// Its own sibling is no other session.
	sibling, _ := submit(t, c, alice, 2, coordinatortest.Create("m", "a"))
	own, g := submit(t, c, alice, 3, coordinatortest.Create("m", "b"))
	run(t, c, alice, sibling)
	run(t, c, alice, settled(t, g))

	r, err := c.Report(within(t))
	if err != nil {
		t.Fatal(err)
	}
	if r.Delayed != 1 || r.Refused != 1 || r.WouldWait != 1 || r.WouldRefuse != 1 || r.Errors != 1 || r.Omitted != 0 || r.Since == 0 || r.Transactions != 7 {
		t.Errorf("the sums are wrong: %+v", r)
	}
	want := []struct {
		tx       admission.TxID
		what     string
		provider bool
		by       string
	}{
		{delayed.Tx, coordinator.Delayed, true, "alice"},
		{observed.Tx, coordinator.WouldWait, false, "alice"},
		{refused.Tx, coordinator.Refused, false, ""},
		{passed.Tx, coordinator.WouldRefuse, false, ""},
	}
	if len(r.Items) != len(want) {
		t.Fatalf("%d items; want %d: %+v", len(r.Items), len(want), r.Items)
	}
	for i, w := range want {
		got := r.Items[i]
		if got.Tx != w.tx || got.What != w.what || got.ProviderError != w.provider || len(got.Reasons) == 0 {
			t.Errorf("item %d is %+v; want %+v", i, got, w)
			continue
		}
		if by := got.Reasons[0].By; w.by != "" && (by == nil || by.Actor != w.by || by.Objective != "test") {
			t.Errorf("item %d is due to %+v; want %s", i, by, w.by)
		}
	}
	if r.Items[0].By.Actor != "bob" || r.Items[0].Waited <= 0 || time.Duration(r.Items[0].Waited) > patience {
		t.Errorf("the delay is %+v", r.Items[0])
	}
	if own.Tx == "" {
		t.Error("the sibling has no name")
	}
	fail(t, c, carol, observed)
	if r, err = c.Report(within(t)); err != nil || r.Errors != 2 || r.WouldWait != 1 || !r.Items[1].ProviderError || r.Items[1].What != coordinator.WouldWait || r.Items[1].Reasons[0].By == nil {
		t.Errorf("the error of the call that passed is not told: %+v, %v", r.Items[1], err)
	}
	data, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var back coordinator.Report
	if err := json.Unmarshal(data, &back); err != nil || back.Items[0].Reasons[0].By.Actor != "alice" {
		t.Errorf("the report does not survive JSON: %v", err)
	}
}

// TestReportKnowsProviderErrors: what a person settled, or what was not there
// when it was read, is no error of the provider.
func TestReportKnowsProviderErrors(t *testing.T) {
	t.Parallel()
	c := start(t, counted())
	alice, bob := open(t, c, "alice"), open(t, c, "bob")
	held, _ := submit(t, c, alice, 1, coordinatortest.Create("n", "a"))
	_, f := submit(t, c, bob, 1, coordinatortest.Create("n", "b"))
	run(t, c, alice, held)
	d := settled(t, f)
	if _, err := c.Start(within(t), bob.Session, d.Tx, d.Token); err != nil {
		t.Fatal(err)
	}
	if err := c.Complete(within(t), bob.Session, coordinator.Outcome{Tx: d.Tx, Token: d.Token, Result: admission.Lost}); err != nil {
		t.Fatal(err)
	}
	if err := c.Resolve(within(t), d.Tx, "carol", "looked", false); err != nil {
		t.Fatal(err)
	}
	r, err := c.Report(within(t))
	if err != nil || r.Delayed != 1 || r.Errors != 0 || r.Items[0].Status != admission.Failed || r.Items[0].ProviderError {
		t.Errorf("Report = %+v, %v", r, err)
	}
}
