// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package client_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"time"

	weaverv1 "github.com/tfweaver/tfweaver/api/weaver/v1"
	"github.com/tfweaver/tfweaver/internal/coordinator/client"
	"github.com/tfweaver/tfweaver/internal/coordinator/coordinatortest"
	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/core/graph"
)

// TestCallOfOneSession goes through the life of a call.
func TestCallOfOneSession(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.serve()
	c := p.dial()
	info, err := c.Info(within(t))
	if err != nil || info.GetVersion() != "1.2.3" || info.GetEpoch() != 1 {
		t.Fatalf("Info = %v, %v", info, err)
	}
	s := open(t, c, client.SessionConfig{Actor: "alice", Phase: "planning"})
	if !strings.HasPrefix(s.ID(), "alice-") {
		t.Errorf("the session is called %s", s.ID())
	}
	prospects, err := s.Forecast(within(t), []admission.Request{coordinatortest.Create("n", "a")}, true)
	if err != nil || len(prospects) != 1 || prospects[0].Decision != "admit" {
		t.Fatalf("Forecast = %+v, %v", prospects, err)
	}
	g := grant(t, s, coordinatortest.Create("n", "a"))
	finish(t, g)
	found, index, err := s.Lookup(within(t), coordinatortest.Subnet("n", "a"), "nowhere")
	if err != nil || index == 0 || len(found) != 2 || !found[0].Known || found[0].Node.Lifecycle != graph.Operational || found[1].Known {
		t.Fatalf("Lookup = %+v, %d, %v", found, index, err)
	}
	if _, only, err := s.Lookup(within(t)); err != nil || only != index {
		t.Errorf("Lookup of nothing = %d, %v; want %d", only, err, index)
	}
	seen, err := s.Observe(within(t), index, nil, []admission.Observation{{Decl: found[0].Node.Decl, Exists: true, Digest: "first digest"}})
	if err != nil || seen <= index {
		t.Fatalf("Observe = %d, %v", seen, err)
	}
	if found, _, err = s.Lookup(within(t), coordinatortest.Subnet("n", "a")); err != nil || found[0].Node.Digest == "" {
		t.Errorf("after Observe: %+v, %v", found, err)
	}
	// The digest itself is not kept, only what tells whether it is another one.
	if d := found[0].Node.Digest; strings.Contains(d, "first digest") {
		t.Errorf("kept as %q", d)
	}
	version := found[0].Node.Version
	for _, same := range []string{"first digest", "second digest"} {
		_, now, _ := s.Lookup(within(t))
		if _, err := s.Observe(within(t), now, nil, []admission.Observation{{Decl: found[0].Node.Decl, Exists: true, Digest: same}}); err != nil {
			t.Fatal(err)
		}
		again, _, err := s.Lookup(within(t), coordinatortest.Subnet("n", "a"))
		if err != nil || (again[0].Node.Version == version) != (same == "first digest") {
			t.Errorf("seen with %s: version %d after %d, %v", same, again[0].Node.Version, version, err)
		}
	}
	if peers, err := s.Close(within(t)); err != nil || peers != 0 {
		t.Errorf("Close = %d, %v", peers, err)
	}
	<-s.Done()
	wantError(t, "Err", s.Err(), client.ErrSessionEnded)
	_, err = s.Submit(within(t), coordinatortest.Create("n", "b"), "", nil)
	wantError(t, "Submit of a closed session", err, client.ErrSessionEnded)
}

// TestWaitThenAdmitted: a waiting call hears for whom it waits, and goes on.
func TestWaitThenAdmitted(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.serve()
	c := p.dial()
	alice, bob := open(t, c, client.SessionConfig{Actor: "alice"}), open(t, p.dial(), client.SessionConfig{Actor: "bob"})
	held := grant(t, alice, coordinatortest.Create("n", "a"))
	done, waits := wait(t, within(t), bob, coordinatortest.Create("n", "b"))
	w := receive(t, "wait", waits)
	if !w.Foreign || w.Report.Conflicts[0].Holder.Actor != "alice" || w.Report.Wait.Position != 1 {
		t.Errorf("waiting: %+v", w)
	}
	report, status, err := c.Explain(within(t), w.Tx)
	if err != nil || status != admission.Queued || report.ID != string(w.Tx) {
		t.Errorf("Explain = %+v, %s, %v", report, status, err)
	}
	finish(t, held)
	a := receive(t, "answer", done)
	if a.err != nil || a.grant.Tx() != w.Tx {
		t.Fatalf("Submit = %+v", a)
	}
	finish(t, a.grant)
}

// TestRejected: the policy of the session decides between waiting and the
// refusal, which carries its report.
func TestRejected(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.serve()
	c := p.dial()
	alice := open(t, c, client.SessionConfig{Actor: "alice"})
	bob := open(t, c, client.SessionConfig{Actor: "bob", Policy: admission.Reject})
	grant(t, alice, coordinatortest.Create("n", "a"))
	_, err := bob.Submit(within(t), coordinatortest.Create("n", "b"), "", nil)
	var refused *client.RejectedError
	if !errors.As(err, &refused) || refused.Report.Conflicts[0].Holder.Actor != "alice" {
		t.Fatalf("Submit: %v", err)
	}
}

// TestStaleKeepsItsTicket: the error carries what a resubmission needs.
func TestStaleKeepsItsTicket(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.serve()
	s := open(t, p.dial(), client.SessionConfig{Actor: "alice"})
	finish(t, grant(t, s, coordinatortest.Create("n", "a")))
	self := coordinatortest.Subnet("n", "a")
	_, err := s.Submit(within(t), coordinatortest.Guarded(coordinatortest.Write("n", "a", admission.Update), admission.Version, self, 99), "", nil)
	var stale *client.StaleError
	if !errors.As(err, &stale) || !errors.Is(err, client.ErrStale) {
		t.Fatalf("Submit: %v", err)
	}
	g, err := s.Submit(within(t), coordinatortest.Write("n", "a", admission.Update), stale.Tx, nil)
	if err != nil || g.Tx() != stale.Tx {
		t.Fatalf("resubmission = %+v, %v; want %s", g, err, stale.Tx)
	}
}

// TestGivingUpWithdraws: whoever stops waiting stands in nobody's way.
func TestGivingUpWithdraws(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.serve()
	c := p.dial()
	alice, bob, carol := open(t, c, client.SessionConfig{Actor: "alice"}), open(t, c, client.SessionConfig{Actor: "bob"}), open(t, c, client.SessionConfig{Actor: "carol"})
	held := grant(t, alice, coordinatortest.Create("n", "a"))
	ctx, cancel := context.WithCancel(t.Context())
	done, waits := wait(t, ctx, bob, coordinatortest.Create("n", "b"))
	gone := receive(t, "wait", waits).Tx
	next, nextWaits := wait(t, within(t), carol, coordinatortest.Create("n", "c"))
	receive(t, "wait", nextWaits)
	cancel()
	wantError(t, "Submit", receive(t, "answer", done).err, context.Canceled)
	_, status, err := c.Explain(within(t), gone)
	if err != nil || status != admission.Withdrawn {
		t.Fatalf("%s is %s, %v; want withdrawn", gone, status, err)
	}
	finish(t, held)
	if a := receive(t, "answer", next); a.err != nil {
		t.Fatalf("Submit of the next: %v", a.err)
	}
}

// TestClosingWithdraws: the end of a session is the answer to its waits.
func TestClosingWithdraws(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.serve()
	c := p.dial()
	alice, bob := open(t, c, client.SessionConfig{Actor: "alice"}), open(t, c, client.SessionConfig{Actor: "bob"})
	grant(t, alice, coordinatortest.Create("n", "a"))
	done, waits := wait(t, within(t), bob, coordinatortest.Create("n", "b"))
	receive(t, "wait", waits)
	peers, err := bob.Close(within(t))
	if err != nil || peers != 1 {
		t.Fatalf("Close = %d, %v", peers, err)
	}
	if err := receive(t, "answer", done).err; !errors.Is(err, client.ErrWithdrawn) && !errors.Is(err, client.ErrSessionEnded) {
		t.Errorf("Submit: %v", err)
	}
}

// TestHeartbeatsKeepTheLease, and tell the phase.
func TestHeartbeatsKeepTheLease(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.serve()
	c := p.dial()
	s := open(t, c, client.SessionConfig{Actor: "alice", Lease: 2 * time.Second, Phase: "planning"})
	s.SetPhase("applying")
	until := time.Now().Add(4 * time.Second)
	for time.Now().Before(until) {
		select {
		case <-s.Done():
			t.Fatalf("lost: %v", s.Err())
		case <-time.After(50 * time.Millisecond):
		}
	}
	st, err := c.Status(within(t))
	if err != nil || len(st.Sessions) != 1 || st.Sessions[0].Phase != "applying" {
		t.Errorf("status: %+v, %v", st.Sessions, err)
	}
}

// TestRestartWithinTheLease: nothing is noticed but the delay.
func TestRestartWithinTheLease(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	stop := p.serve()
	c := p.dial()
	alice, bob := open(t, c, client.SessionConfig{Actor: "alice"}), open(t, c, client.SessionConfig{Actor: "bob"})
	held := grant(t, alice, coordinatortest.Create("n", "a"))
	if err := held.Start(within(t)); err != nil {
		t.Fatal(err)
	}
	done, waits := wait(t, within(t), bob, coordinatortest.Create("n", "b"))
	tx := receive(t, "wait", waits).Tx
	stop()
	put := make(chan error, 1)
	go func() { // while nobody answers
		put <- held.Complete(within(t), client.Outcome{Result: admission.Succeeded, Exists: true})
	}()
	time.Sleep(50 * time.Millisecond)
	p.serve()
	if err := receive(t, "answer to Complete", put); err != nil {
		t.Fatalf("Complete: %v", err)
	}
	a := receive(t, "answer", done)
	if a.err != nil || a.grant.Tx() != tx {
		t.Fatalf("Submit = %+v; want %s", a, tx)
	}
	finish(t, a.grant)
	for _, s := range []*client.Session{alice, bob} { // while somebody answers
		if _, err := s.Close(within(t)); err != nil {
			t.Errorf("Close: %v", err)
		}
	}
}

// TestSessionIsLost: whoever has not heard of the coordinator for a whole lease,
// and some patience, learns it, and can tell it from an end that the coordinator
// decided.
func TestSessionIsLost(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	stop := p.serve()
	s := open(t, p.dial(), client.SessionConfig{Actor: "alice", Lease: 300 * time.Millisecond, Patience: 500 * time.Millisecond})
	stop()
	stopped := time.Now()
	_, err := s.Submit(within(t), coordinatortest.Create("n", "a"), "", nil)
	wantError(t, "Submit", err, client.ErrLost)
	if took := time.Since(stopped); took < 500*time.Millisecond {
		t.Errorf("given up after %s, within the patience", took)
	}
	receive(t, "loss", s.Done())
	wantError(t, "Err", s.Err(), client.ErrSessionEnded)
	wantError(t, "Err", s.Err(), client.ErrLost)
}

// TestUnreachable: the error names the address and what to do.
func TestUnreachable(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	_, err := client.Dial(within(t), p.address)
	wantError(t, "Dial", err, client.ErrUnreachable)
	if !strings.Contains(err.Error(), p.address) || !strings.Contains(err.Error(), "tfweaver serve --listen") {
		t.Errorf("the error does not help: %v", err)
	}
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the reason of the operating system is lost: %v", err)
	}
	for _, bad := range []string{"https://127.0.0.1:1", "tcp://nowhere", "unix://relative", "/just/a/path", ""} {
		_, err := client.Dial(within(t), bad)
		wantError(t, "Dial "+bad, err, client.ErrAddress)
		if !strings.Contains(err.Error(), "unix:///path") && !strings.Contains(err.Error(), "tcp://coordinator") {
			t.Errorf("Dial(%q): %v", bad, err)
		}
	}
	_, err = client.Dial(within(t), "unix:///"+strings.Repeat("long/", 40))
	wantError(t, "Dial a long path", err, client.ErrAddress)
}

// TestWatch: events arrive in order until the caller has had enough.
func TestWatch(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.serve()
	c := p.dial()
	s := open(t, c, client.SessionConfig{Actor: "alice"})
	events := make(chan *weaverv1.WatchEvent, 100)
	ended := make(chan error, 1)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() {
		for e, err := range c.Watch(ctx) {
			if err != nil {
				ended <- err
				return
			}
			events <- e
		}
		ended <- nil
	}()
	// It has begun once something arrives.
	var first *weaverv1.WatchEvent
	for i := 0; first == nil; i++ {
		g := grant(t, s, coordinatortest.Create(fmt.Sprintf("n%d", i), "a"))
		finish(t, g)
		select {
		case first = <-events:
		case <-time.After(20 * time.Millisecond):
		}
	}
	if !strings.HasPrefix(string(first.GetEvent()), `{"type":"`) || first.GetIndex() == 0 {
		t.Errorf("event %s at %d", first.GetEvent(), first.GetIndex())
	}
	cancel()
	wantError(t, "Watch", receive(t, "end", ended), context.Canceled)
}

// TestResolve settles what a lost answer left, by a person's word.
func TestResolve(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.serve()
	c := p.dial()
	s := open(t, c, client.SessionConfig{Actor: "alice"})
	g := grant(t, s, coordinatortest.Create("n", "a"))
	if err := c.Resolve(within(t), g.Tx(), "bob", "guessing", true); !errors.Is(err, admission.ErrStatus) {
		t.Errorf("Resolve of an admitted call: %v", err)
	}
	if err := g.Start(within(t)); err != nil {
		t.Fatal(err)
	}
	if err := g.Complete(within(t), client.Outcome{Result: admission.Lost}); err != nil {
		t.Fatal(err)
	}
	if err := c.Resolve(within(t), g.Tx(), "bob", "looked at the portal", true); err != nil {
		t.Fatal(err)
	}
	_, status, err := c.Explain(within(t), g.Tx())
	if err != nil || status != admission.Operational {
		t.Errorf("%s is %s, %v", g.Tx(), status, err)
	}
}

// TestStartIsRepeatable: a lost answer may be asked for again.
func TestStartIsRepeatable(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.serve()
	s := open(t, p.dial(), client.SessionConfig{Actor: "alice"})
	g := grant(t, s, coordinatortest.Create("n", "a"))
	for range 2 {
		if err := g.Start(within(t)); err != nil {
			t.Fatalf("Start: %v", err)
		}
	}
	for range 2 {
		if err := g.Complete(within(t), client.Outcome{Result: admission.Succeeded, Exists: true}); err != nil {
			t.Fatalf("Complete: %v", err)
		}
	}
	h := grant(t, s, coordinatortest.Create("n", "b"))
	if err := h.Withdraw(within(t)); err != nil {
		t.Fatalf("Withdraw: %v", err)
	}
	if err := h.Start(within(t)); !errors.Is(err, admission.ErrStatus) {
		t.Errorf("Start after Withdraw: %v", err)
	}
}

// TestTooLate: when the answer to Start took most of the lease, the call must
// not leave any more.
func TestTooLate(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.serve()
	s := open(t, p.dial(), client.SessionConfig{Actor: "alice", Lease: 3 * time.Second})
	g := grant(t, s, coordinatortest.Create("n", "a"))
	p.journal.Gate(func(write func() error) error {
		err := write()
		time.Sleep(1900 * time.Millisecond)
		return err
	})
	wantError(t, "Start", g.Start(within(t)), client.ErrTooLate)
	p.journal.Gate(nil)
	if err := g.Complete(within(t), client.Outcome{Result: admission.NotSent}); err != nil {
		t.Errorf("Complete: %v", err)
	}
}

// TestGivingUpUnheard: a request whose answer never came back is withdrawn
// all the same.
func TestGivingUpUnheard(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.serve()
	c := p.dial()
	alice := open(t, c, client.SessionConfig{Actor: "alice"})
	entered, leave := make(chan struct{}), make(chan struct{})
	p.journal.Gate(func(write func() error) error {
		close(entered)
		<-leave
		return write()
	})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		_, err := alice.Submit(ctx, coordinatortest.Create("n", "a"), "", nil)
		done <- err
	}()
	<-entered
	p.journal.Gate(nil)
	cancel()
	close(leave)
	wantError(t, "Submit", receive(t, "answer", done), context.Canceled)
	st, err := c.Status(within(t))
	if err != nil || len(st.Transactions) != 0 || len(st.Locks) != 0 {
		t.Errorf("%+v is left behind, %v", st.Transactions, err)
	}
	finish(t, grant(t, open(t, c, client.SessionConfig{Actor: "bob"}), coordinatortest.Create("n", "b")))
}

// TestAddIntent: reports name the intent that a request was made for.
func TestAddIntent(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.serve()
	c := p.dial()
	alice, bob := open(t, c, client.SessionConfig{Actor: "alice"}), open(t, c, client.SessionConfig{Actor: "bob"})
	intent, err := alice.AddIntent(within(t), admission.Intent{Objective: "make room", Kind: "update"})
	if err != nil || !strings.HasPrefix(string(intent), alice.ID()) {
		t.Fatalf("AddIntent = %s, %v", intent, err)
	}
	r := coordinatortest.Create("n", "a")
	r.Intent = intent
	held := grant(t, alice, r)
	done, waits := wait(t, within(t), bob, coordinatortest.Create("n", "b"))
	if h := receive(t, "wait", waits).Report.Conflicts[0].Holder; h.Objective != "make room" || h.Intent != string(intent) {
		t.Errorf("the holder's purpose is %q (%s)", h.Objective, h.Intent)
	}
	finish(t, held)
	if a := receive(t, "answer", done); a.err != nil {
		t.Fatal(a.err)
	}
}
