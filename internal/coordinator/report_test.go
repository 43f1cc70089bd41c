// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package coordinator_test

import (
	"testing"

	"github.com/tfweaver/tfweaver/internal/coordinator"
	"github.com/tfweaver/tfweaver/internal/coordinator/coordinatortest"
	"github.com/tfweaver/tfweaver/internal/core/admission"
)

// TestReportOfWaitsThatEnded: a wait that took too long is a refusal, for the
// change was not sent; one that somebody broke off is a delay.
func TestReportOfWaitsThatEnded(t *testing.T) {
	t.Parallel()
	c := start(t, counted())
	alice, bob := open(t, c, "alice"), open(t, c, "bob")
	submit(t, c, alice, 1, coordinatortest.Create("n", "a"))
	for key, cause := range []string{coordinator.WaitedTooLong, "given up"} {
		waits, _ := submit(t, c, bob, uint64(key+1), coordinatortest.Create("n", "b"))
		wantStatus(t, waits, admission.Queued)
		if err := c.Withdraw(within(t), bob.Session, waits.Tx, cause); err != nil {
			t.Fatal(err)
		}
	}
	r, err := c.Report(within(t))
	if err != nil {
		t.Fatal(err)
	}
	if r.Refused != 1 || r.Delayed != 1 || len(r.Items) != 2 || r.Items[0].What != coordinator.Refused {
		t.Fatalf("the report is %+v", r)
	}
	if reasons := r.Items[0].Reasons; len(reasons) == 0 || reasons[0].By == nil || reasons[0].By.Actor != "alice" {
		t.Errorf("the refusal is due to %+v", reasons)
	}
}

// TestReportCountsAnAnswerOnce: a refusal after which the session looked again
// and asked anew is told by what became of that.
func TestReportCountsAnAnswerOnce(t *testing.T) {
	t.Parallel()
	c := start(t, counted())
	alice, bob := open(t, c, "alice"), open(t, c, "bob")
	made, _ := submit(t, c, alice, 1, coordinatortest.Create("n", "a"))
	run(t, c, alice, made)
	update := coordinatortest.Write("n", "a", admission.Update)
	stale := coordinatortest.Guarded(update, admission.SameLife, coordinatortest.Subnet("n", "a"), 99)
	submit(t, c, bob, 1, stale)
	last, _ := submit(t, c, bob, 2, stale)
	wantStatus(t, last, admission.Rejected)
	r, err := c.Report(within(t))
	if err != nil || r.Refused != 1 || len(r.Items) != 1 || r.Items[0].Tx != last.Tx {
		t.Fatalf("refused twice: %+v, %v", r, err)
	}
	let, _ := submit(t, c, bob, 3, update)
	wantStatus(t, let, admission.Admitted)
	if r, err = c.Report(within(t)); err != nil || r.Refused != 0 || len(r.Items) != 0 || r.Transactions != 2 {
		t.Errorf("let through in the end: %+v, %v", r, err)
	}
}

// TestReportNamesWhatNobodyWasTold: a call of which nobody knows how it ended, and
// a create that failed and left its object behind.
func TestReportNamesWhatNobodyWasTold(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		result admission.Result
		exists bool
		want   string
	}{
		"lost":             {admission.Lost, false, coordinator.Unknown},
		"failed, is there": {admission.Errored, true, coordinator.Left},
		"failed":           {admission.Errored, false, ""},
		"succeeded":        {admission.Succeeded, true, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := start(t, counted())
			alice := open(t, c, "alice")
			sent, _ := submit(t, c, alice, 1, coordinatortest.Create("n", "a"))
			if _, err := c.Start(within(t), alice.Session, sent.Tx, sent.Token); err != nil {
				t.Fatal(err)
			}
			if err := c.Complete(within(t), alice.Session, coordinator.Outcome{Tx: sent.Tx, Token: sent.Token, Result: tt.result, Exists: tt.exists}); err != nil {
				t.Fatal(err)
			}
			r, err := c.Report(within(t))
			if err != nil {
				t.Fatal(err)
			}
			var got string
			for _, x := range r.Items {
				got += x.What
			}
			if got != tt.want || r.Unknown+r.Left != len(r.Items) {
				t.Errorf("the report is %+v, want %q", r, tt.want)
			}
		})
	}
}
