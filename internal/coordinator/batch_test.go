// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package coordinator_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/tfweaver/tfweaver/internal/coordinator"
	"github.com/tfweaver/tfweaver/internal/coordinator/coordinatortest"
	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/journal/memjournal"
)

// held is a journal whose appends wait for a word each: nil to write, or the
// error to fail with instead.
func held(t *testing.T, j *coordinatortest.Journal) (entered chan struct{}, word chan error) {
	t.Helper()
	entered, word = make(chan struct{}), make(chan error)
	over := t.Context().Done()
	j.Gate(func(write func() error) error {
		select {
		case entered <- struct{}{}:
		case <-over:
			return write()
		}
		select {
		case err := <-word:
			if err != nil {
				return err
			}
		case <-over:
		}
		return write()
	})
	return entered, word
}

// waitQueued waits until n commands were decided behind the append under way.
func waitQueued(t *testing.T, c *coordinator.Coordinator, n int) {
	t.Helper()
	for ctx := within(t); coordinator.Queued(c) < n; time.Sleep(time.Millisecond) {
		if ctx.Err() != nil {
			t.Fatal("the commands do not arrive")
		}
	}
}

// TestAnswersAreOnRecord: what is decided while a batch is written shows in no
// answer and to no follower before it is written too, and if that fails it
// never was.
func TestAnswersAreOnRecord(t *testing.T) {
	t.Parallel()
	store := memjournal.NewStore()
	j := &coordinatortest.Journal{Journal: store.Open()}
	c := start(t, j)
	alice, bob := open(t, c, "alice"), open(t, c, "bob")
	first, _ := submit(t, c, alice, 1, coordinatortest.Create("n", "a"))

	entered, word := held(t, j)
	type answer struct {
		d   coordinator.Decision
		f   *coordinator.Follower
		err error
	}
	answers := make(chan answer, 1)
	ctx := within(t)
	go func() {
		r := coordinatortest.Create("n", "b")
		r.Key = 1
		d, f, err := c.Submit(ctx, bob.Session, r, "")
		answers <- answer{d, f, err}
	}()
	<-entered
	withdrawn := make(chan error, 1)
	go func() { withdrawn <- c.Withdraw(ctx, alice.Session, first.Tx, "") }()
	waitQueued(t, c, 1) // bob's call is admitted by that, in memory
	word <- nil
	got := <-answers
	if got.err != nil {
		t.Fatal(got.err)
	}
	wantStatus(t, got.d, admission.Queued)

	<-entered
	soon, cancel := context.WithTimeout(ctx, 50*time.Millisecond) // Refresh is 5 ms here
	defer cancel()
	if d, err := got.f.Next(soon); err == nil && !d.Waits() {
		t.Fatalf("bob's call is %s before that is on record", d.Status)
	}
	j.Gate(nil)
	word <- errors.New("the disk is gone")
	wantError(t, "Withdraw", <-withdrawn, coordinator.ErrUnavailable)
	again, f := submit(t, c, bob, 1, coordinatortest.Create("n", "b"))
	if again.Tx != got.d.Tx || !again.Waits() {
		t.Fatalf("%+v became %+v", got.d, again)
	}
	got.f.Close()
	f.Close()
}

// TestNothingFollowsAFailedAppend: what was decided on top of a batch that was
// not written fails with it.
func TestNothingFollowsAFailedAppend(t *testing.T) {
	t.Parallel()
	j := counted()
	c := start(t, j)
	alice := open(t, c, "alice")
	entered, word := held(t, j)
	ctx, errs := within(t), make(chan error, 2)
	put := func(network string, key uint64) {
		r := coordinatortest.Create(network, "a")
		r.Key = key
		_, _, err := c.Submit(ctx, alice.Session, r, "")
		errs <- err
	}
	go put("n1", 1)
	<-entered
	go put("n2", 2)
	waitQueued(t, c, 1)
	j.Gate(nil)
	word <- errors.New("the disk is gone")
	wantError(t, "the first Submit", <-errs, coordinator.ErrUnavailable)
	wantError(t, "the second Submit", <-errs, coordinator.ErrUnavailable)
	d, _ := submit(t, c, alice, 1, coordinatortest.Create("n1", "a"))
	wantStatus(t, d, admission.Admitted)
}
