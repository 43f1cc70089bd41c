// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package coordinator_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/tfweaver/tfweaver/internal/coordinator"
	"github.com/tfweaver/tfweaver/internal/coordinator/coordinatortest"
	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/core/graph"
	"github.com/tfweaver/tfweaver/internal/journal/memjournal"
)

// TestImmediateGrantCostsOneAppend: independent work never waits, and is
// written once.
func TestImmediateGrantCostsOneAppend(t *testing.T) {
	t.Parallel()
	j := counted()
	c := start(t, j)
	alice := open(t, c, "alice")
	appends, records := j.Appends.Load(), j.Records.Load()
	d, f := submit(t, c, alice, 1, coordinatortest.Create("n1", "a"))
	wantStatus(t, d, admission.Admitted)
	if f != nil {
		t.Error("an admitted transaction has a follower")
	}
	if a, r := j.Appends.Load()-appends, j.Records.Load()-records; a != 1 || r != 1 {
		t.Errorf("the grant took %d appends and %d records; want 1 and 1", a, r)
	}
	if want := fmt.Sprintf("t%d", d.Index); string(d.Tx) != want {
		t.Errorf("the transaction is called %s; want %s", d.Tx, want)
	}
}

// TestSameKeySameAnswer: a repeated Submit changes nothing and is not
// journalled (invariant I27).
func TestSameKeySameAnswer(t *testing.T) {
	t.Parallel()
	j := counted()
	c := start(t, j)
	alice := open(t, c, "alice")
	first, _ := submit(t, c, alice, 7, coordinatortest.Create("n1", "a"))
	waits, _ := submit(t, c, alice, 8, coordinatortest.Create("n1", "b"))
	records := j.Records.Load()
	again, _ := submit(t, c, alice, 7, coordinatortest.Create("n1", "a"))
	if again.Tx != first.Tx || again.Token != first.Token || again.Status != first.Status {
		t.Errorf("first %+v, then %+v", first, again)
	}
	again, f := submit(t, c, alice, 8, coordinatortest.Create("n1", "b"))
	if again.Tx != waits.Tx || !again.Waits() || f == nil {
		t.Errorf("first %+v, then %+v", waits, again)
	}
	if n := j.Records.Load() - records; n != 0 {
		t.Errorf("repeating was journalled in %d records", n)
	}
	r := coordinatortest.Create("n1", "c")
	r.Key = 7
	_, _, err := c.Submit(within(t), alice.Session, r, "")
	wantError(t, "another request under the same key", err, admission.ErrKeyReused)
}

// TestWaitersGoOnInOrder: each release wakes the next in the queue, and only
// that one (invariant I11).
func TestWaitersGoOnInOrder(t *testing.T) {
	t.Parallel()
	c := start(t, counted())
	var sessions []coordinator.Opened
	for i := range 6 {
		sessions = append(sessions, open(t, c, fmt.Sprintf("user%d", i)))
	}
	holder, _ := submit(t, c, sessions[0], 1, coordinatortest.Create("n1", "s0"))
	wantStatus(t, holder, admission.Admitted)
	var followers []*coordinator.Follower
	for i := 1; i < 6; i++ {
		d, f := submit(t, c, sessions[i], 1, coordinatortest.Create("n1", fmt.Sprintf("s%d", i)))
		wantStatus(t, d, admission.Queued)
		if !d.Foreign || d.Report == nil || d.Report.Wait.Position != i {
			t.Fatalf("waiter %d: %+v", i, d)
		}
		followers = append(followers, f)
	}
	for i, f := range followers {
		run(t, c, sessions[i], holder)
		holder = settled(t, f)
		wantStatus(t, holder, admission.Admitted)
	}
}

// TestPlaceIsRefreshed: who waits further back learns that the queue moved.
func TestPlaceIsRefreshed(t *testing.T) {
	t.Parallel()
	c := start(t, counted())
	a, b, d := open(t, c, "a"), open(t, c, "b"), open(t, c, "d")
	holder, _ := submit(t, c, a, 1, coordinatortest.Create("n1", "a"))
	submit(t, c, b, 1, coordinatortest.Create("n1", "b"))
	last, f := submit(t, c, d, 1, coordinatortest.Create("n1", "d"))
	if last.Report.Wait.Position != 2 {
		t.Fatalf("position %d; want 2", last.Report.Wait.Position)
	}
	run(t, c, a, holder)
	for last.Report.Wait.Position != 1 {
		var err error
		if last, err = f.Next(within(t)); err != nil {
			t.Fatal(err)
		}
		wantStatus(t, last, admission.Queued)
	}
}

// TestForeign: a wait for one's own run is not one for others.
func TestForeign(t *testing.T) {
	t.Parallel()
	c := start(t, counted())
	alice := open(t, c, "alice")
	submit(t, c, alice, 1, coordinatortest.Create("n1", "a"))
	d, _ := submit(t, c, alice, 2, coordinatortest.Create("n1", "b"))
	wantStatus(t, d, admission.Queued)
	if d.Foreign {
		t.Error("a sibling counts as foreign")
	}
}

// TestOthersTransactionsAreOutOfReach: a session acts for itself only.
func TestOthersTransactionsAreOutOfReach(t *testing.T) {
	t.Parallel()
	c := start(t, counted())
	alice, mallory := open(t, c, "alice"), open(t, c, "mallory")
	d, _ := submit(t, c, alice, 1, coordinatortest.Create("n1", "a"))
	_, err := c.Start(within(t), mallory.Session, d.Tx, d.Token)
	wantError(t, "Start", err, coordinator.ErrForeign)
	err = c.Complete(within(t), mallory.Session, coordinator.Outcome{Tx: d.Tx, Token: d.Token, Result: admission.NotSent})
	wantError(t, "Complete", err, coordinator.ErrForeign)
	wantError(t, "Withdraw", c.Withdraw(within(t), mallory.Session, d.Tx, ""), coordinator.ErrForeign)
	r := coordinatortest.Create("n1", "b")
	r.Session = alice.Session // what a request says about its session is not believed
	got, _, err := c.Submit(within(t), mallory.Session, r, "")
	if err != nil || !got.Foreign {
		t.Errorf("Submit = %+v, %v; want a wait for alice", got, err)
	}
	_, _, err = c.Submit(within(t), mallory.Session, r, d.Tx)
	wantError(t, "resubmission", err, coordinator.ErrForeign)
}

// TestCredentials: only the journal's own coordinator can make one, and it
// survives a restart.
func TestCredentials(t *testing.T) {
	t.Parallel()
	store := memjournal.NewStore()
	c := start(t, store.Open())
	alice, bob := open(t, c, "alice"), open(t, c, "bob")
	shut(t, c)
	c = start(t, store.Open())
	id, err := c.Authenticate(alice.Credential)
	if err != nil || id != alice.Session {
		t.Fatalf("Authenticate = %s, %v; want %s", id, err, alice.Session)
	}
	code := alice.Credential[strings.LastIndexByte(alice.Credential, '.'):]
	for _, forged := range []string{"", ".", "x", string(alice.Session), string(bob.Session) + code, alice.Credential + "A", code} {
		if id, err := c.Authenticate(forged); err == nil {
			t.Errorf("%q proves session %s", forged, id)
		}
	}
	other := start(t, counted())
	_, err = other.Authenticate(alice.Credential)
	wantError(t, "another journal", err, coordinator.ErrCredential)
}

// TestSessionIDs: people can read them, and they never collide.
func TestSessionIDs(t *testing.T) {
	t.Parallel()
	c := start(t, counted())
	seen := map[admission.SessionID]bool{}
	for _, actor := range []string{"alice", "alice", "Alice B. <alice@example.com>", "ci/pipeline #7", "日本", "-"} {
		id := open(t, c, actor).Session
		if seen[id] {
			t.Errorf("%s was given twice", id)
		}
		seen[id] = true
		if strings.Trim(string(id), "abcdefghijklmnopqrstuvwxyz0123456789-") != "" || len(id) < 6 {
			t.Errorf("%q became %q", actor, id)
		}
	}
}

// TestPeers: a run learns with how many others it was coordinated, also with
// those that have left.
func TestPeers(t *testing.T) {
	t.Parallel()
	c := start(t, counted())
	before := open(t, c, "before")
	if _, err := c.CloseSession(within(t), before.Session); err != nil {
		t.Fatal(err)
	}
	alice, bob := open(t, c, "alice"), open(t, c, "bob")
	if _, err := c.CloseSession(within(t), bob.Session); err != nil {
		t.Fatal(err)
	}
	open(t, c, "carol")
	peers, err := c.CloseSession(within(t), alice.Session)
	if err != nil || peers != 2 {
		t.Errorf("CloseSession = %d, %v; want 2", peers, err)
	}
	if c.Live() != 1 {
		t.Errorf("%d sessions live; want 1", c.Live())
	}
}

// TestForecastDeclares: what a plan will create is known to the others, who
// then wait for it.
func TestForecastDeclares(t *testing.T) {
	t.Parallel()
	c := start(t, counted())
	alice, bob := open(t, c, "alice"), open(t, c, "bob")
	plan := []admission.Request{coordinatortest.Create("n1", "a"), coordinatortest.Create("n2", "b")}
	prospects, err := c.Forecast(within(t), alice.Session, plan, true)
	if err != nil || len(prospects) != 2 || prospects[0].Decision != "admit" || prospects[0].Report != nil {
		t.Fatalf("Forecast = %+v, %v", prospects, err)
	}
	needs := coordinatortest.Create("n1", "b")
	needs.Nodes = append(needs.Nodes, graph.Decl{ID: coordinatortest.Subnet("n1", "a"), Parent: coordinatortest.Network("n1"), Kind: graph.Resource})
	needs = coordinatortest.Guarded(needs, admission.Present, coordinatortest.Subnet("n1", "a"), 0)
	d, f := submit(t, c, bob, 1, needs)
	wantStatus(t, d, admission.Queued)
	st, err := c.Status(within(t))
	if err != nil || len(st.Declared) != 2 {
		t.Fatalf("%d objects are declared, %v; want 2", len(st.Declared), err)
	}
	made, _ := submit(t, c, alice, 1, plan[0])
	wantStatus(t, made, admission.Admitted)
	run(t, c, alice, made)
	wantStatus(t, settled(t, f), admission.Admitted)
}

// TestStatusAndExplain: the two answers agree on who holds and who waits.
func TestStatusAndExplain(t *testing.T) {
	t.Parallel()
	c := start(t, counted())
	alice, bob := open(t, c, "alice"), open(t, c, "bob")
	held, _ := submit(t, c, alice, 1, coordinatortest.Create("n1", "a"))
	waits, _ := submit(t, c, bob, 1, coordinatortest.Create("n1", "b"))
	st, err := c.Status(within(t))
	if err != nil {
		t.Fatal(err)
	}
	if len(st.Sessions) != 2 || len(st.Sessions[0].Intents) != 1 || len(st.Transactions) != 2 || st.Transactions[1].Position != 1 {
		t.Errorf("status: %+v", st)
	}
	for _, l := range st.Locks {
		if l.Tx != held.Tx || l.Actor != "alice" {
			t.Errorf("%s of %s holds a lock on %s", l.Tx, l.Actor, l.Node)
		}
	}
	if len(st.Locks) != len(coordinatortest.Create("n1", "a").Locks) {
		t.Errorf("%d locks are held", len(st.Locks))
	}
	report, status, err := c.Explain(within(t), waits.Tx)
	if err != nil || status != admission.Queued || len(report.Conflicts) == 0 || report.Conflicts[0].Holder.Actor != "alice" {
		t.Errorf("Explain = %+v, %s, %v", report, status, err)
	}
	_, _, err = c.Explain(within(t), "t999")
	wantError(t, "Explain of nothing", err, admission.ErrNoTx)
}

// TestEndedHolder: who started a call stays known when nobody knows how it
// ended.
func TestEndedHolder(t *testing.T) {
	t.Parallel()
	c := start(t, counted())
	alice := open(t, c, "alice")
	d, _ := submit(t, c, alice, 1, coordinatortest.Create("n1", "a"))
	if _, err := c.Start(within(t), alice.Session, d.Tx, d.Token); err != nil {
		t.Fatal(err)
	}
	if _, err := c.CloseSession(within(t), alice.Session); err != nil {
		t.Fatal(err)
	}
	st, err := c.Status(within(t))
	if err != nil || len(st.Sessions) != 0 || len(st.Locks) == 0 || len(st.Transactions) != 1 {
		t.Fatalf("Status = %+v, %v", st, err)
	}
	if st.Locks[0].Actor != "alice" || st.Transactions[0].Actor != "alice" {
		t.Errorf("the lock is of %q, the transaction of %q; want alice", st.Locks[0].Actor, st.Transactions[0].Actor)
	}
	if n, err := c.Holding(within(t)); err != nil || n != 1 {
		t.Errorf("Holding = %d, %v; want 1", n, err)
	}
	if err := c.Resolve(within(t), d.Tx, "bob", "looked", false); err != nil {
		t.Fatal(err)
	}
	if n, err := c.Holding(within(t)); err != nil || n != 0 {
		t.Errorf("Holding = %d, %v; want 0", n, err)
	}
}

// TestCancelledSubmit: whoever stops waiting leaves nothing behind.
func TestCancelledSubmit(t *testing.T) {
	t.Parallel()
	j := counted()
	c := start(t, j)
	alice := open(t, c, "alice")
	entered, leave := make(chan struct{}), make(chan struct{})
	j.Gate(func(write func() error) error {
		close(entered)
		<-leave
		return write()
	})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		r := coordinatortest.Create("n1", "a")
		r.Key = 1
		_, _, err := c.Submit(ctx, alice.Session, r, "")
		done <- err
	}()
	<-entered
	cancel()
	wantError(t, "Submit", <-done, context.Canceled)
	j.Gate(nil)
	close(leave)
	// It took effect all the same; the same key finds it.
	d, _ := submit(t, c, alice, 1, coordinatortest.Create("n1", "a"))
	wantStatus(t, d, admission.Admitted)
}

// TestGroupCommit: what arrives while a batch is written forms the next one.
func TestGroupCommit(t *testing.T) {
	t.Parallel()
	j := counted()
	c := start(t, j)
	alice := open(t, c, "alice")
	entered, leave := make(chan struct{}), make(chan struct{})
	var once sync.Once
	j.Gate(func(write func() error) error {
		once.Do(func() { close(entered); <-leave })
		return write()
	})
	appends := j.Appends.Load()
	var all sync.WaitGroup
	put := func(i int) {
		all.Go(func() {
			r := coordinatortest.Create(fmt.Sprintf("n%d", i), "a")
			r.Key = uint64(i + 1)
			if d, _, err := c.Submit(within(t), alice.Session, r, ""); err != nil || d.Status != admission.Admitted {
				t.Errorf("Submit = %+v, %v", d, err)
			}
		})
	}
	put(0)
	<-entered
	for i := 1; i <= 40; i++ {
		put(i)
	}
	for coordinator.Queued(c) < 40 {
		if t.Context().Err() != nil {
			t.Fatal("the commands do not arrive")
		}
	}
	close(leave)
	all.Wait()
	if n := j.Appends.Load() - appends; n != 2 {
		t.Errorf("41 commands took %d appends; want 2", n)
	}
}
