// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package simcloud_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tfweaver/tfweaver/internal/simcloud"
	"github.com/tfweaver/tfweaver/internal/simcloud/activity"
	"github.com/tfweaver/tfweaver/internal/simcloud/arm"
)

// inject arms a fault given in its JSON form.
func (l *lab) inject(text string) {
	l.t.Helper()
	f, err := simcloud.ParseFault([]byte(text))
	if err != nil {
		l.t.Fatalf("%v", err)
	}
	if err := l.cloud.Inject(f); err != nil {
		l.t.Fatalf("%v", err)
	}
}

// until waits for a condition of another goroutine.
func (l *lab) until(what string, holds func() bool) {
	l.t.Helper()
	for deadline := time.Now().Add(time.Minute); !holds(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			l.t.Fatalf("not within a minute: %s", what)
		}
	}
}

// outcomeOf is a call whose answer is awaited elsewhere.
type outcomeOf struct {
	answer
	err error
}

// background makes a call that nobody waits for yet.
func (w *web) background(ctx context.Context, method, path, body string) <-chan outcomeOf {
	done := make(chan outcomeOf, 1)
	go func() {
		a, err := w.try(ctx, method, path, body)
		done <- outcomeOf{a, err}
	}()
	return done
}

const pipBody = `{"location":"north","properties":{}}`

func TestALostAnswer(t *testing.T) {
	t.Parallel()
	w := newWeb(t, simcloud.Config{})
	w.built(group())
	w.inject(`{"type":"public_ip","verb":"create","drop_answer":true}`)
	if got := <-w.background(t.Context(), "PUT", pipPath+"p", pipBody); got.err == nil {
		t.Errorf("answered with %+v", got.answer)
	}
	w.state(pipPath+"p", arm.Creating)
	w.settle()
	w.state(pipPath+"p", arm.Succeeded)
	if a := w.do(t, "PUT", pipPath+"q", pipBody); a.status != 201 {
		t.Errorf("the fault is met twice: %+v", a)
	}
	if e := w.cloud.Events()[2]; e.Status != activity.Accepted || e.Fault != "drop_answer" {
		t.Errorf("log: %+v", e)
	}
}

func TestALostRequest(t *testing.T) {
	t.Parallel()
	w := newWeb(t, simcloud.Config{})
	w.built(group())
	w.inject(`{"drop_request":true}`)
	if got := <-w.background(t.Context(), "PUT", pipPath+"p", pipBody); got.err == nil {
		t.Errorf("answered with %+v", got.answer)
	}
	w.gone(pipPath + "p")
	log := w.log()
	if log.RefusedWith("RequestDropped") != 1 || log.Refused[0].Fault != "drop_request" {
		t.Errorf("refused: %+v", log.Refused)
	}
}

// TestACallIsAcceptedAfterItsCallerIsGone is why an absent object proves nothing
// while the call that creates it may still be on its way.
func TestACallIsAcceptedAfterItsCallerIsGone(t *testing.T) {
	t.Parallel()
	w := newWeb(t, simcloud.Config{})
	w.built(group())
	sent := w.clock.Now()
	w.inject(`{"object_id":"` + pipPath + `P","accept_delay":"10s"}`)
	ctx, cancel := context.WithCancel(t.Context())
	done := w.background(ctx, "PUT", pipPath+"p", pipBody)
	w.until("the call is kept waiting", func() bool { return w.cloud.Delayed() == 1 })
	cancel()
	if got := <-done; got.err == nil {
		t.Errorf("answered with %+v", got.answer)
	}
	w.gone(pipPath + "p")
	w.clock.Advance(10 * time.Second)
	w.until("the call is accepted", func() bool { return w.cloud.InFlight() == 1 })
	w.state(pipPath+"p", arm.Creating)
	w.settle()
	op := w.log().Operations[1]
	if op.Received != sent || op.Start != sent.Add(10*time.Second) || op.Result != activity.Succeeded {
		t.Errorf("the log says %+v", op)
	}
}

func TestALateAnswer(t *testing.T) {
	t.Parallel()
	w := newWeb(t, simcloud.Config{})
	w.built(group())
	w.inject(`{"answer_delay":"10s"}`)
	done := w.background(t.Context(), "PUT", pipPath+"p", pipBody)
	w.until("the answer is kept back", func() bool { return w.cloud.Delayed() == 1 })
	w.state(pipPath+"p", arm.Creating)
	w.clock.Advance(10 * time.Second)
	if got := <-done; got.err != nil || got.status != 201 {
		t.Errorf("answered with %+v", got)
	}
	w.state(pipPath+"p", arm.Succeeded)
}

func TestEndingDelaysHangsUp(t *testing.T) {
	t.Parallel()
	for _, fault := range []string{`{"accept_delay":"10s"}`, `{"answer_delay":"10s"}`} {
		w := newWeb(t, simcloud.Config{})
		w.inject(fault)
		done := w.background(t.Context(), "PUT", groupPath, `{"location":"north"}`)
		w.until("something is kept waiting", func() bool { return w.cloud.Delayed() == 1 })
		w.cloud.EndDelays()
		if got := <-done; got.err == nil || w.cloud.Delayed() != 0 {
			t.Errorf("%s: answered with %+v", fault, got.answer)
		}
		if err := w.cloud.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestAnOperationFailsLater(t *testing.T) {
	t.Parallel()
	l := newLab(t, simcloud.Config{Scale: 100})
	l.built(group())
	l.inject(`{"type":"public_ip","fail_after":"250ms","code":"AllocationFailed","message":"no room"}`)
	l.inject(`{"type":"public_ip","latency":"3s"}`)
	failing, slow := l.must(l.send(pip("p"))), l.must(l.send(pip("q")))
	l.clock.Advance(249 * time.Millisecond)
	l.outcome(failing, arm.OperationInProgress, "")
	l.clock.Advance(time.Millisecond)
	l.outcome(failing, arm.OperationFailed, "AllocationFailed")
	l.state(pipPath+"p", arm.Failed)
	l.clock.Advance(2749 * time.Millisecond)
	l.outcome(slow, arm.OperationInProgress, "")
	l.clock.Advance(time.Millisecond)
	l.outcome(slow, arm.OperationSucceeded, "")
	l.inject(`{"verb":"delete","fail_after":"1ms"}`)
	deletion := l.must(l.delete(pipPath + "q"))
	l.settle()
	l.outcome(deletion, arm.OperationFailed, "InternalExecutionError")
	l.state(pipPath+"q", arm.Failed)
}

func TestWhichWritesMeetAFault(t *testing.T) {
	t.Parallel()
	l := newLab(t, simcloud.Config{Faults: []simcloud.Fault{{Kind: arm.PublicIPAddress, Actor: "a", Verb: simcloud.Update, Skip: 1, Count: 2, Latency: time.Hour}}})
	l.built(group(), pip("p"), pip("p")) // creation, skipped
	met := func(string) bool { return l.cloud.Events()[len(l.cloud.Events())-1].Fault != "" }
	if !met(l.must(l.send(pip("p")))) {
		t.Error("the second update does not meet it")
	}
	l.busy(l.send(pip("p"))) // a refused write gives it back
	l.settle()
	if met(l.must(l.call(simcloud.Call{Method: "PUT", Path: pipPath + "p", Body: encode(t, pip("p").r), Actor: "b"}))) {
		t.Error("another actor meets it")
	}
	l.settle()
	if !met(l.must(l.send(pip("p")))) {
		t.Error("the third update does not meet it")
	}
	l.settle()
	if met(l.must(l.send(pip("p")))) {
		t.Error("the fourth update meets it")
	}
	l.inject(`{"count":-1,"latency":"1h"}`)
	for range 3 {
		if !met(l.must(l.delete(nsgPath + "x"))) { // of nothing
			t.Error("a fault without end ends")
		}
	}
	l.cloud.ClearFaults()
	if met(l.must(l.delete(nsgPath + "x"))) {
		t.Error("a fault that was cleared is met")
	}
}

// TestFaultsByChanceFollowTheSeed has the same writes meet a fault whatever happens
// to other objects.
func TestFaultsByChanceFollowTheSeed(t *testing.T) {
	t.Parallel()
	pattern := func(seed uint64, name string, noise bool) []bool {
		l := newLab(t, simcloud.Config{Seed: seed, Faults: []simcloud.Fault{{Probability: 0.5, Count: -1, Latency: time.Minute}}})
		l.built(group())
		var got []bool
		for i := range 40 {
			if noise {
				l.built(pip(fmt.Sprint("noise", i)))
			}
			l.must(l.send(pip(name)))
			events := l.cloud.Events()
			got = append(got, events[len(events)-1].Fault != "")
			l.settle()
		}
		return got
	}
	one := pattern(1, "p", false)
	if diff := cmp.Diff(one, pattern(1, "p", true)); diff != "" {
		t.Errorf("others change what happens:\n%s", diff)
	}
	if cmp.Equal(one, pattern(2, "p", false)) || cmp.Equal(one, pattern(1, "q", false)) {
		t.Error("seeds and objects must differ")
	}
	n := 0
	for _, met := range one {
		if met {
			n++
		}
	}
	if n < 8 || n > 32 {
		t.Errorf("%d of 40 writes meet a fault of probability a half", n)
	}
}

func TestBadFaults(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		``, `{}`, `{"type":"public_ip"}`, `{"drop":true}`, `{"type":"x","drop_answer":true}`, `{"verb":"move","drop_answer":true}`,
		`{"object_id":"x","drop_answer":true}`, `{"latency":"long"}`, `{"latency":"-1s"}`, `{"probability":2,"drop_answer":true}`, `{"skip":-1,"drop_answer":true}`,
	} {
		if f, err := simcloud.ParseFault([]byte(text)); err == nil {
			t.Errorf("%s is read as %+v", text, f)
		}
	}
	if _, err := simcloud.New(simcloud.Config{Faults: []simcloud.Fault{{}}}); err == nil {
		t.Error("a fault without effect is configured")
	}
	l := newLab(t, simcloud.Config{})
	if err := l.cloud.Inject(simcloud.Fault{Verb: "x", DropAnswer: true}); err == nil {
		t.Error("a fault with an unknown verb is armed")
	}
}
