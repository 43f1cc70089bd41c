// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package coordinator_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tfweaver/tfweaver/internal/coordinator"
	"github.com/tfweaver/tfweaver/internal/coordinator/coordinatortest"
	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/core/escrow"
)

// measure says that a bucket has a limit and is used to some extent.
func measure(t *testing.T, c *coordinator.Coordinator, s coordinator.Opened, bucket escrow.Key, limit, use int64) {
	t.Helper()
	m, err := c.Moment(within(t))
	if err != nil {
		t.Fatal(err)
	}
	err = c.Measure(within(t), admission.Measure{Session: s.Session, Began: m.Index, Readings: []admission.Reading{
		{Bucket: bucket, Limit: escrow.At(limit), Use: escrow.At(use)},
	}})
	if err != nil {
		t.Fatal(err)
	}
}

// TestReservationsShareABucket: of two plans that fit alone but not together
// one waits, hears for what and for whom, and goes on when the other is done.
func TestReservationsShareABucket(t *testing.T) {
	t.Parallel()
	c := start(t, counted())
	alice, bob := open(t, c, "alice"), open(t, c, "bob")
	q := coordinatortest.Addresses("n")
	measure(t, c, alice, q, 20, 4)
	mine, _ := submit(t, c, alice, 1, coordinatortest.Reservation(coordinatortest.Consuming(coordinatortest.Create("n", "a"), q, 12)))
	wantStatus(t, mine, admission.Admitted)
	if !mine.Reservation {
		t.Error("a reservation is taken for a call")
	}
	plan := coordinatortest.Reservation(coordinatortest.Consuming(coordinatortest.Create("n", "b"), q, 12))
	waits, f := submit(t, c, bob, 1, plan)
	wantStatus(t, waits, admission.Queued)
	if !waits.Foreign || waits.Report == nil {
		t.Errorf("the wait is not explained: %+v", waits)
	}
	again, _ := submit(t, c, bob, 1, plan)
	if again.Tx != waits.Tx {
		t.Errorf("the same key got %s and %s", waits.Tx, again.Tx)
	}
	list, err := c.Buckets(within(t), []escrow.Key{q, "nowhere#vcpu"})
	if err != nil || len(list) != 2 {
		t.Fatalf("Buckets = %+v, %v", list, err)
	}
	if list[0].ReadAt == 0 {
		t.Error("the age of the reading is not known")
	}
	list[0].ReadAt = 0
	want := []coordinator.BucketStatus{
		{
			Bucket: q, Node: coordinatortest.Network("n"), Name: "addresses", Limit: escrow.At(20), Used: escrow.At(4),
			Reserved: 12, Available: escrow.At(4),
			Shares: []coordinator.BucketShare{{Tx: mine.Tx, Address: "plan", Session: alice.Session, Actor: "alice", Objective: "test", Reserved: 12}},
		},
		{Bucket: "nowhere#vcpu", Node: "nowhere", Name: "vcpu"},
	}
	if diff := cmp.Diff(want, list); diff != "" {
		t.Errorf("Buckets (-want +got):\n%s", diff)
	}
	st, err := c.Status(within(t))
	if err != nil || len(st.Buckets) != 1 || st.Buckets[0].Bucket != q {
		t.Errorf("the status has buckets %+v, %v", st.Buckets, err)
	}
	if err := c.Withdraw(within(t), alice.Session, mine.Tx, "done"); err != nil {
		t.Fatal(err)
	}
	wantStatus(t, settled(t, f), admission.Admitted)
}

// TestHopelessIsRefused: what cannot fit is not parked.
func TestHopelessIsRefused(t *testing.T) {
	t.Parallel()
	c := start(t, counted())
	alice := open(t, c, "alice")
	q := coordinatortest.Addresses("n")
	measure(t, c, alice, q, 20, 10)
	d, _ := submit(t, c, alice, 1, coordinatortest.Reservation(coordinatortest.Consuming(coordinatortest.Create("n", "a"), q, 12)))
	wantStatus(t, d, admission.Rejected)
	r, err := c.Report(within(t))
	if err != nil || r.Refused != 1 || len(r.Items) != 1 || r.Items[0].Reasons[0].Capacity == nil {
		t.Fatalf("Report = %+v, %v", r, err)
	}
	if s := r.Items[0].Reasons[0].Capacity; s.Limit != 20 || s.Used != 10 || s.Asked != 12 || !s.Hopeless {
		t.Errorf("the shortage is %+v", s)
	}
}

// TestClaimsAreShown: what a run holds for a replace is seen by others.
func TestClaimsAreShown(t *testing.T) {
	t.Parallel()
	c := start(t, counted())
	alice := open(t, c, "alice")
	destroy, create := coordinatortest.Write("n", "a", admission.Delete), coordinatortest.Create("n", "a")
	plan := coordinatortest.Reservation(create, destroy)
	for i := range plan.Calls {
		plan.Calls[i].Group = "sim_subnet.a"
	}
	plan.Calls[0].After = []admission.CallID{plan.Calls[1].ID} // delete first
	reserved, _ := submit(t, c, alice, 1, plan)
	wantStatus(t, reserved, admission.Admitted)
	d, _ := submit(t, c, alice, 2, coordinatortest.Planned(destroy, reserved.Tx))
	wantStatus(t, d, admission.Admitted)
	st, err := c.Status(within(t))
	if err != nil || len(st.Claims) != 1 {
		t.Fatalf("the status has claims %+v, %v", st.Claims, err)
	}
	claim := st.Claims[0]
	if claim.Plan != reserved.Tx || claim.Actor != "alice" || claim.Objective != "test" || claim.Session != alice.Session || len(claim.Calls) != 2 {
		t.Errorf("the claim is %+v", claim)
	}
	if diff := cmp.Diff([]admission.TxID{d.Tx}, claim.Running); diff != "" {
		t.Errorf("calls of the claim (-want +got):\n%s", diff)
	}
}

// TestDoubtIsShown: what may be counted twice is not taken for a shortage.
func TestDoubtIsShown(t *testing.T) {
	t.Parallel()
	c := start(t, counted())
	alice := open(t, c, "alice")
	q := coordinatortest.Addresses("n")
	measure(t, c, alice, q, 20, 4)
	d, _ := submit(t, c, alice, 1, coordinatortest.Consuming(coordinatortest.Create("n", "a"), q, 5))
	if _, err := c.Start(within(t), alice.Session, d.Tx, d.Token); err != nil {
		t.Fatal(err)
	}
	measure(t, c, alice, q, 20, 9) // read while it runs
	list, err := c.Buckets(within(t), nil)
	if err != nil || len(list) != 1 || list[0].Used != escrow.At(9) || list[0].Reserved != 5 || list[0].Doubt != 5 || list[0].Available != escrow.At(6) {
		t.Errorf("Buckets = %+v, %v", list, err)
	}
}
