// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package gatekeeper

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/zclconf/go-cty/cty"

	"github.com/tfweaver/tfweaver/internal/coordinator"
	"github.com/tfweaver/tfweaver/internal/coordinator/client"
	"github.com/tfweaver/tfweaver/internal/coordinator/server"
	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/core/conflict"
	"github.com/tfweaver/tfweaver/internal/core/escrow"
	"github.com/tfweaver/tfweaver/internal/journal/memjournal"
	"github.com/tfweaver/tfweaver/internal/ruleengine"
	"github.com/tfweaver/tfweaver/wrapper/intercept"
	"github.com/tfweaver/tfweaver/wrapper/lowering"
	"github.com/tfweaver/tfweaver/wrapper/views"
)

// scene is a gatekeeper of bob's and a session of alice's at one coordinator.
type scene struct {
	*Gatekeeper
	alice *client.Session
	conn  *client.Client
	view  *recorder
	// read answers the reads of bob's provider.
	read func(n int, id string) (intercept.Object, error)
}

func newScene(t *testing.T, change func(*Config)) *scene {
	t.Helper()
	// t.TempDir may be longer than a socket's path can be.
	dir, err := os.MkdirTemp("", "weaver")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	address := "unix://" + filepath.Join(dir, "s")
	serve(t, address)
	conn, err := client.Dial(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	s := &scene{conn: conn, view: newRecorder(), alice: enter(t, conn, "alice")}
	config := Config{
		Session: Coordinated(enter(t, conn, "bob")), Explain: conn.Explain, Engine: fakeEngine{},
		View: s.view, Wait: time.Hour, Repeat: time.Hour, Logger: slog.New(slog.NewTextHandler(t.Output(), nil)),
	}
	if change != nil {
		change(&config)
	}
	s.Gatekeeper = New(config)
	t.Cleanup(func() { s.Close(context.Background()) })
	s.Plan(changes{address: "simcloud_subnet.b"})
	s.UseReader(&fakeReader{answer: func(n int, id string) (intercept.Object, error) { return s.read(n, id) }})
	s.Configured(t.Context(), "p", object("config"))
	withSchemas(rig{Gatekeeper: s.Gatekeeper})
	return s
}

func serve(t *testing.T, address string) {
	t.Helper()
	c, err := coordinator.New(t.Context(), coordinator.Config{
		Journal: memjournal.NewStore().Open(), Version: "1.2.3", Host: "here", Refresh: 5 * time.Millisecond,
	})
	if err != nil {
		t.Fatal(err)
	}
	l, err := server.Listen(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- server.New(c).Serve(ctx, l, 0) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Serve: %v", err)
		}
		if err := c.Close(context.Background()); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
}

func enter(t *testing.T, conn *client.Client, actor string) *client.Session {
	t.Helper()
	s, err := conn.Open(t.Context(), client.SessionConfig{Actor: actor, Objective: "work of " + actor, Policy: admission.Queue, Origin: actor})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = s.Close(context.Background()) })
	return s
}

// asks is a request of alice's on bob's own object.
func (s *scene) asks(t *testing.T, action admission.Action) admission.Request {
	t.Helper()
	lowered, err := fakeEngine{}.Lower(t.Context(), ruleengine.Operation{Type: "simcloud_subnet", Address: "simcloud_subnet.a", Action: action}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return lowered.Request
}

// holds admits a request of alice's.
func (s *scene) holds(t *testing.T, r admission.Request) *client.Grant {
	t.Helper()
	g, err := s.alice.Submit(t.Context(), r, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// takes reserves some of the bucket for alice, with a limit of 20 of which 2 are
// used.
func (s *scene) takes(t *testing.T, n int64) *client.Grant {
	t.Helper()
	m, err := s.alice.Moment(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	readings := []admission.Reading{{Bucket: bucket, Limit: escrow.At(20), Use: escrow.At(2)}}
	r := s.asks(t, admission.Create)
	if err := s.alice.Measure(t.Context(), m.Index, readings); err != nil {
		t.Fatal(err)
	}
	return s.holds(t, admission.Request{
		Action: admission.Reserve, Nodes: r.Nodes,
		Calls: []admission.Planned{{ID: "create a", Self: r.Self, Action: admission.Create, Effects: takes(n)}},
	})
}

func withEffects(n int64) func(*Config) {
	return func(c *Config) { c.Engine = fakeEngine{effects: takes(n)} }
}

// later runs f in the background and gives its error.
func later(f func() error) chan error {
	done := make(chan error, 1)
	go func() { done <- f() }()
	return done
}

// onePlan creates one object.
func onePlan() changes {
	return changes{address: "simcloud_subnet.b", calls: []lowering.PlannedCall{planned(admission.Create, "simcloud_subnet.b", "")}}
}

func TestAPlanWaitsForCapacityAtTheCoordinator(t *testing.T) {
	t.Parallel()
	s := newScene(t, withEffects(8))
	theirs := s.takes(t, 12)
	s.Plan(onePlan())
	done := later(func() error { return s.Reserve(t.Context(), unordered()) })
	s.view.until(t, func() bool { return len(s.view.waiting) == 1 })
	w := s.view.waiting[0]
	if c := w.Report.Conflicts[0].Capacity; w.Address != wholePlan || c == nil || c.Limit != 20 || c.Used != 2 || c.Reserved != 12 || c.Asked != 8 {
		t.Errorf("shown %+v", w)
	}
	if err := theirs.Withdraw(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	permit, err := s.Admit(t.Context(), call(intercept.Create))
	if err != nil {
		t.Fatal(err)
	}
	s.sent(t, permit, object(string(subnetID)))
	buckets, err := s.alice.Buckets(t.Context(), bucket)
	if err != nil || buckets[0].Reserved != 0 || buckets[0].Used != escrow.At(10) {
		t.Errorf("%+v, %v", buckets, err)
	}
	s.Finish(t.Context())
}

// sent starts a call and lets it succeed.
func (s *scene) sent(t *testing.T, permit intercept.Permit, left cty.Value) {
	t.Helper()
	if err := permit.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	permit.Done(t.Context(), intercept.Outcome{Result: intercept.Succeeded, NewState: left})
}

func TestAHopelessPlanIsRefusedAtTheCoordinator(t *testing.T) {
	t.Parallel()
	s := newScene(t, withEffects(19))
	s.takes(t, 1)
	s.Plan(onePlan())
	reads := 0
	s.read = func(_ int, id string) (intercept.Object, error) { reads++; return there(id), nil }
	err := s.Reserve(t.Context(), unordered())
	wantRefusal(t, err, "The plan is refused: 19 asked", "limit 20", "2 used")
	if reads != 1 {
		t.Errorf("read %d times before it was refused for good", reads)
	}
}

func TestAnOverrideOfAPlanAtTheCoordinator(t *testing.T) {
	t.Parallel()
	s := newScene(t, withEffects(19))
	s.takes(t, 1)
	s.read = func(_ int, id string) (intercept.Object, error) { return there(id), nil }
	s.Plan(onePlan())
	err := s.Reserve(t.Context(), unordered())
	wantRefusal(t, err, "19 asked")
	id := s.Summary().Refused[0].Report.ID
	s.override.word = Override{ID: admission.TxID(id), By: "bob", Reason: "the quota was raised"}
	s.Plan(onePlan())
	if err := s.Reserve(t.Context(), unordered()); err != nil {
		t.Fatal(err)
	}
	permit, err := s.Admit(t.Context(), call(intercept.Create))
	if err != nil {
		t.Fatalf("a call of a plan that was passed: %v", err)
	}
	s.sent(t, permit, object(string(subnetID)))
	p := s.Summary().Passed
	if len(p) != 2 || p[0].Mode != views.Overridden || !p[0].Refused || p[1].By != "bob" {
		t.Errorf("passed %+v", p)
	}
	s.Finish(t.Context())
	if len(s.view.problems) != 0 {
		t.Errorf("warned of %+v", s.view.problems)
	}
}

func TestAReplaceIsHeldTogetherAtTheCoordinator(t *testing.T) {
	t.Parallel()
	s := newScene(t, nil)
	s.Plan(replacing())
	if err := s.Reserve(t.Context(), lowering.Order{Complete: true}); err != nil {
		t.Fatal(err)
	}
	permit, err := s.Admit(t.Context(), call(intercept.Delete))
	if err != nil {
		t.Fatal(err)
	}
	waits := make(chan client.Waiting, 100)
	done := later(func() error {
		_, err := s.alice.Submit(t.Context(), s.asks(t, admission.Create), "", func(w client.Waiting) { waits <- w })
		return err
	})
	w := <-waits
	if h := w.Report.Conflicts[0].Holder; h == nil || h.Actor != "bob" {
		t.Errorf("alice waits for %+v", w.Report)
	}
	s.sent(t, permit, cty.NullVal(object("").Type()))
	select {
	case err := <-done:
		t.Fatalf("alice came in between: %v", err)
	case <-time.After(100 * time.Millisecond):
	}
	if permit, err = s.Admit(t.Context(), call(intercept.Create)); err != nil {
		t.Fatal(err)
	}
	s.sent(t, permit, object(string(subnetID)))
	s.Finish(t.Context())
	if err := <-done; err != nil {
		t.Errorf("alice: %v", err)
	}
	if h := s.Summary().HalfDone; len(h) != 0 {
		t.Errorf("half done %+v", h)
	}
}

func TestObservingAtTheCoordinator(t *testing.T) {
	t.Parallel()
	s := newScene(t, inMode(Observe))
	if _, err := s.Admit(t.Context(), call(intercept.Update)); err != nil {
		t.Fatal(err)
	}
	if p := s.Summary().Passed; len(p) != 0 {
		t.Errorf("passed %+v with nothing in the way", p)
	}
}

func TestObservingAConflictAtTheCoordinator(t *testing.T) {
	t.Parallel()
	s := newScene(t, inMode(Observe))
	s.holds(t, s.asks(t, admission.Update))
	permit, err := s.Admit(t.Context(), call(intercept.Update))
	if err != nil {
		t.Fatal(err)
	}
	s.sent(t, permit, object(string(subnetID)))
	p := s.Summary().Passed
	if len(p) != 1 || p[0].Mode != views.Observing || p[0].Refused || p[0].Report == nil || views.Holders(*p[0].Report) != `alice ("work of alice")` {
		t.Errorf("passed %+v: %+v %q", p, p[0].Report, views.Holders(*p[0].Report))
	}
}

func TestObservingARefusalAtTheCoordinator(t *testing.T) {
	t.Parallel()
	s := newScene(t, func(c *Config) { withEffects(19)(c); inMode(Observe)(c) })
	s.takes(t, 1)
	s.read = func(_ int, id string) (intercept.Object, error) { return there(id), nil }
	if _, err := s.Admit(t.Context(), call(intercept.Create)); err != nil {
		t.Fatal(err)
	}
	if p := s.Summary().Passed; len(p) != 1 || !p[0].Refused {
		t.Errorf("passed %+v: %+v", p, p[0].Report)
	}
}

func TestTheLimitOfTheWaitAtTheCoordinator(t *testing.T) {
	t.Parallel()
	s := newScene(t, func(c *Config) { inMode(Wait)(c); c.Wait = 50 * time.Millisecond })
	s.holds(t, s.asks(t, admission.Update))
	permit, err := s.Admit(t.Context(), call(intercept.Update))
	if err != nil {
		t.Fatal(err)
	}
	s.sent(t, permit, object(string(subnetID)))
	if p := s.Summary().Passed; len(p) != 1 || p[0].Mode != views.WaitOnly || p[0].Tx == "" {
		t.Errorf("passed %+v", p)
	}
	if u := s.Summary().Uncertain; len(u) != 0 {
		t.Errorf("uncertain %+v", u)
	}
}

func TestAnOverrideAtTheCoordinator(t *testing.T) {
	t.Parallel()
	s := newScene(t, func(c *Config) { c.Wait = 50 * time.Millisecond })
	s.holds(t, s.asks(t, admission.Update))
	_, err := s.Admit(t.Context(), call(intercept.Update))
	wantRefusal(t, err, "alice")
	s.override.word = Override{ID: admission.TxID(s.Summary().Refused[0].Report.ID), By: "bob", Reason: "she is on leave"}
	permit, err := s.Admit(t.Context(), call(intercept.Update))
	if err != nil {
		t.Fatal(err)
	}
	s.sent(t, permit, object(string(subnetID)))
	p := s.Summary().Passed
	if len(p) != 1 || p[0].Mode != views.Overridden {
		t.Fatalf("passed %+v", p)
	}
	report, _, err := s.conn.Explain(t.Context(), admission.TxID(p[0].Tx))
	if err != nil || report.ID != p[0].Tx {
		t.Errorf("%+v, %v", report, err)
	}
}

// lose lets a create of alice's be lost.
func (s *scene) lose(t *testing.T) *client.Grant {
	t.Helper()
	g := s.holds(t, s.asks(t, admission.Create))
	if err := g.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := g.Complete(t.Context(), client.Outcome{Result: admission.Lost}); err != nil {
		t.Fatal(err)
	}
	return g
}

func TestALostCreateIsSettledAtTheCoordinator(t *testing.T) {
	t.Parallel()
	s := newScene(t, nil)
	lost := s.lose(t)
	s.read = func(n int, id string) (intercept.Object, error) {
		if n == 0 {
			return gone(), nil // it proves nothing: alice lives
		}
		return there(id), nil
	}
	permit, err := s.Admit(t.Context(), call(intercept.Update))
	if err != nil {
		t.Fatal(err)
	}
	s.sent(t, permit, object(string(subnetID)))
	_, status, err := s.conn.Explain(t.Context(), lost.Tx())
	if err != nil || !status.Final() {
		t.Errorf("alice's call is %s, %v", status, err)
	}
	if x := s.Summary().Settled; len(x) != 1 || !x[0].Exists || x[0].Tx != string(lost.Tx()) {
		t.Errorf("settled %+v", x)
	}
}

func TestAForecastSettlesAtTheCoordinator(t *testing.T) {
	t.Parallel()
	s := newScene(t, nil)
	lost := s.lose(t)
	s.read = func(_ int, id string) (intercept.Object, error) { return there(id), nil }
	s.Plan(changes{calls: []lowering.PlannedCall{planned(admission.Update, "simcloud_subnet.b", "")}})
	f, err := s.Forecast(t.Context(), false)
	if err != nil || len(f.Reports) != 0 || len(s.view.settled) != 1 {
		t.Fatalf("forecast %+v, %v", f, err)
	}
	_, status, err := s.conn.Explain(t.Context(), lost.Tx())
	if err != nil || !status.Final() {
		t.Errorf("alice's call is %s, %v", status, err)
	}
}

// TestAForecastLeavesToReadingWhatCanBeRead: nobody is asked to settle by hand what
// the run will read, but what it cannot read.
func TestAForecastLeavesToReadingWhatCanBeRead(t *testing.T) {
	t.Parallel()
	for name, unreadable := range map[string]error{"it can be read": nil, "it cannot": errors.New("its id is not known")} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t, func(c *Config) { c.Engine = fakeEngine{unreadable: unreadable} })
			s.lose(t)
			s.read = func(int, string) (intercept.Object, error) { return gone(), nil } // it proves nothing: alice lives
			s.Plan(changes{calls: []lowering.PlannedCall{planned(admission.Update, "simcloud_subnet.b", "")}})
			f, err := s.Forecast(t.Context(), false)
			if err != nil || len(f.Reports) != 1 {
				t.Fatalf("forecast %+v, %v", f, err)
			}
			text := conflict.Text(f.Reports[0])
			if asks := strings.Contains(text, "tfweaver resolve"); asks != (unreadable != nil) {
				t.Errorf("it says %q", text)
			}
			if reads := strings.Contains(text, "The next run that needs it reads it"); reads != (unreadable == nil) {
				t.Errorf("it says %q", text)
			}
		})
	}
}

func TestAnOldReferenceIsReadAnewAtTheCoordinator(t *testing.T) {
	t.Parallel()
	report := conflict.Report{Decision: conflict.Reject, Conflicts: []conflict.Conflict{{
		Fact: &conflict.Fact{What: "references " + string(subnetID), Age: 60, Object: &conflict.Resource{CloudID: string(subnetID), Type: "simcloud_subnet"}},
	}}}
	s := newScene(t, nil)
	r := s.asks(t, admission.Create)
	seen := []admission.Observation{{Decl: r.Nodes[1], Exists: true}}
	if _, err := s.alice.Observe(t.Context(), 0, r.Nodes, seen); err != nil {
		t.Fatal(err)
	}
	s.read = func(int, string) (intercept.Object, error) { return gone(), nil }
	if !s.lookAgain(t.Context(), &petition{gate: s.Gatekeeper}, report) {
		t.Error("it is not worth asking again")
	}
	found, _, err := s.alice.Lookup(t.Context(), subnetID)
	if err != nil || found[0].Node.Lifecycle == "live" {
		t.Errorf("%+v, %v", found, err)
	}
}
