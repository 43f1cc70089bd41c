// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package view

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/core/conflict"
	"github.com/tfweaver/tfweaver/internal/core/escrow"
	"github.com/tfweaver/tfweaver/internal/core/graph"
	"github.com/tfweaver/tfweaver/internal/core/lock"
	"github.com/tfweaver/tfweaver/internal/core/mode"
)

func (w *world) report(id admission.TxID) conflict.Report {
	return w.local.Report(w.lens, w.state, conflict.BuildAt(w.state, id, "me", w.now))
}

// blocked is the session's update of the shared subnet, behind whatever the
// other calls hold.
func blocked(t *testing.T, w *world, others map[string]op) conflict.Report {
	t.Helper()
	for by, o := range others {
		if _, ok := w.state.Session(admission.SessionID(by)); !ok {
			w.open(by, admission.Queue)
		}
		if err := w.submit(admission.TxID("t-"+by), o.request(by)); err != nil {
			t.Fatal(err)
		}
	}
	w.now += 5e9
	o := change(admission.Update, w.group+"/net/s1", want(graph.FacetOf(w.group+"/net", "slot"), mode.X, "in_flight"))
	if err := w.submit("mine", o.request("me")); err != nil {
		t.Fatal(err)
	}
	w.now += 2e9
	return w.report("mine")
}

func slotWrite(w *world, object graph.NodeID) op {
	return change(admission.Create, object, want(graph.FacetOf(w.group+"/net", "slot"), mode.X, "in_flight"))
}

// TestHiddenHolder: of somebody hidden nothing is told but that, where and for
// what class of reason the call waits.
func TestHiddenHolder(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "r/h", admission.Queue)
	r := blocked(t, w, map[string]op{"stranger": slotWrite(w, "r/h/net/secret")})
	want := conflict.Report{
		Schema: conflict.Schema, ID: "mine", Decision: conflict.Wait, Status: "queued",
		Since: "1970-01-01T00:00:05Z", Age: 2, Address: "sim.s1-me", Action: "update",
		Requester: conflict.Party{
			Session: "me", Intent: "objective of me", Actor: "actor-me", RunURL: "https://me", State: "state-me",
		},
		Object: &conflict.Resource{CloudID: "s-1", Type: "sim_s", LocalID: "s-1"},
		Conflicts: []conflict.Conflict{{
			Resource: conflict.Resource{CloudID: "net-1", Type: "sim_net", LocalID: "net-1"},
			Relation: "ancestor", Class: "in_flight", ModeWanted: "X",
			Holder: &conflict.Holder{Session: Alias, Actor: Alias, Redacted: true},
		}},
		Actions: []conflict.Advice{
			{Verb: "wait", Text: "goes on by itself when its turn comes"},
			{Verb: "abort", Text: "Ctrl-C gives up the place in the queue"},
			{Verb: "verify", Command: "tfweaver why mine", Text: "shows all reasons"},
		},
	}
	if d := cmp.Diff(want, r); d != "" {
		t.Error(d)
	}
	text := conflict.Text(r)
	if !strings.Contains(text, "another session") || strings.Contains(text, "Queue place") {
		t.Error(text)
	}
}

// TestHowManyAreHidden: one more hidden session in the way changes nothing, on
// the same node and for the same class, nor does it behind a visible one.
func TestHowManyAreHidden(t *testing.T) {
	t.Parallel()
	render := func(others ...string) string {
		w := newWorld(t, "r/h", admission.Queue)
		for i, by := range others {
			if by != "pal" {
				w.open(by, admission.Queue)
			}
			object := w.group + "/net/" + graph.NodeID(by)
			if err := w.submit(admission.TxID("t-"+string(rune('a'+i))), slotWrite(w, object).request(by)); err != nil {
				t.Fatal(err)
			}
		}
		return toJSON(t, blocked(t, w, nil))
	}
	if a, b := render("ann"), render("zoe", "bob", "kim"); a != b {
		t.Error(cmp.Diff(a, b))
	}
	if a, b := render("pal"), render("pal", "zoe"); a != b {
		t.Error(cmp.Diff(a, b))
	}
	if a, b := render("pal"), render("zoe"); a == b {
		t.Error("a visible holder looks like a hidden one")
	}
}

// TestVisibleHolder: who is named to the session is named in full, with the
// purpose, at the first refusal.
func TestVisibleHolder(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "r/h", admission.Reject)
	r := blocked(t, w, map[string]op{"pal": slotWrite(w, "r/h/net/pals")})
	if r.Decision != conflict.Reject || len(r.Conflicts) != 1 {
		t.Fatalf("%+v", r)
	}
	h := r.Conflicts[0].Holder
	if h.Session != "pal" || h.Objective != "objective of pal" || h.RunURL != "https://pal" || h.Redacted || h.Tx != "t-pal" {
		t.Errorf("%+v", h)
	}
	if h.Address != "" || r.Conflicts[0].Resource.LocalID != "net-1" {
		t.Errorf("the object of the other is hidden, and told: %+v", h)
	}
}

// TestHiddenDependents keep a delete from being done, and are not counted.
func TestHiddenDependents(t *testing.T) {
	t.Parallel()
	render := func(dependents ...graph.NodeID) string {
		w := newWorld(t, "r/h", admission.Queue)
		w.open("stranger", admission.Queue)
		for i, id := range dependents {
			tx := admission.TxID("t-" + string(rune('a'+i)))
			o := change(admission.Create, id)
			o.refers = []graph.NodeID{"r/h/net/s1"}
			_ = w.submit(tx, o.request("stranger"))
			w.start(tx)
			w.complete(tx, admission.Succeeded, true)
		}
		w.now += 5e9
		_ = w.submit("mine", change(admission.Delete, "r/h/net/s1").request("me"))
		r := w.report("mine")
		if r.Decision != conflict.Reject || len(r.Conflicts) != 1 || r.Conflicts[0].Class != "dependency" || !r.Conflicts[0].Holder.Redacted {
			t.Fatalf("%+v", r)
		}
		return toJSON(t, r) + conflict.Text(r)
	}
	if a, b := render("r/h/nic"), render("r/h/card", "r/h/net/s1/part", "r/other/one"); a != b {
		t.Error(cmp.Diff(a, b))
	}
}

// TestCapacityReport tells what is left, what is asked, and no more.
func TestCapacityReport(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "r/h", admission.Reject)
	w.open("stranger", admission.Queue)
	take := func(id admission.TxID, by string, amount int64) {
		o := change(admission.Create, "r/g/"+graph.NodeID(id))
		o.effects = escrow.Collect(escrow.Effect{Bucket: w.bucket(), Amount: amount})
		if err := w.submit(id, o.request(by)); err != nil {
			t.Fatal(err)
		}
	}
	take("other", "stranger", 5)
	take("mine", "me", 4)
	r := w.report("mine")
	want := &conflict.Capacity{Bucket: bucket, Limit: 10, Used: 7, Asked: 4}
	if d := cmp.Diff(want, r.Conflicts[0].Capacity); d != "" || r.Conflicts[0].Holder != nil || r.Conflicts[0].Fact != nil {
		t.Errorf("%+v %s", r.Conflicts[0], d)
	}
	if text := conflict.Text(r); !strings.Contains(text, "4 asked of s-1 addresses, limit 10: 7 used") && !strings.Contains(text, "limit 10: 7 used, 0 reserved") {
		t.Error(text)
	}
	v := w.local.View(w.lens, w.state)
	if b := v.Capacity[0]; b.Available != 3 || b.Used != nil || b.Reserved != nil {
		t.Errorf("%+v", b)
	}
}

// TestForeignReports: those of hidden sessions look like those of transactions
// that are not known, those of named ones leave out what is hidden.
func TestForeignReports(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "r/h", admission.Queue)
	w.open("stranger", admission.Queue)
	_ = w.submit("t", slotWrite(w, "r/h/net/secret").request("stranger"))
	_ = w.submit("p", slotWrite(w, "r/h/net/pals").request("pal"))
	unknown := w.report("nothing")
	hidden := w.report("t")
	hidden.ID = unknown.ID
	if d := cmp.Diff(unknown, hidden); d != "" {
		t.Error(d)
	}
	if r := w.report("p"); r.Requester.Session != "pal" || r.Object.LocalID != Alias || len(r.Conflicts) != 0 || r.Decision != conflict.Wait {
		t.Errorf("%+v", r)
	}
}

// TestSettledByOthers: who settled a call is told if it may be named.
func TestSettledByOthers(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "r/h", admission.Queue)
	_ = w.submit("mine", change(admission.Update, "r/g/vm").request("me"))
	w.start("mine")
	w.complete("mine", admission.Lost, true)
	if r := w.report("mine"); r.Status != "uncertain" || len(r.Actions) < 2 || !strings.HasPrefix(r.Actions[len(r.Actions)-1].Command, "tfweaver resolve mine") {
		t.Errorf("the advice to settle it is gone: %+v", r.Actions)
	}
	w.must(admission.Resolve{Stamp: w.at(), Tx: "mine", Actor: "boss", Reason: "saw r/h/secret", Exists: true})
	if r := w.report("mine"); r.Outcome.By != Alias || r.Outcome.Reason != "" || !*r.Outcome.Exists {
		t.Errorf("%+v", r.Outcome)
	}
}

// TestOpenReportIsLeftAlone: with nothing set, a report is what it was.
func TestOpenReportIsLeftAlone(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "r/h", admission.Queue)
	blocked(t, w, map[string]op{"stranger": slotWrite(w, "r/h/net/secret"), "pal": change(admission.Update, "r/h")})
	r := conflict.BuildAt(w.state, "mine", "me", w.now)
	got := (&Locals{}).Report(NewLens(Policy{}, session("me")), w.state, r)
	if d := cmp.Diff(r, got); d != "" || len(r.Conflicts) != 2 {
		t.Errorf("%d conflicts: %s", len(r.Conflicts), d)
	}
}

// TestForecastReport: what is told of a prospect is as confined.
func TestForecastReport(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "r/h", admission.Queue)
	w.open("stranger", admission.Queue)
	_ = w.submit("t", slotWrite(w, "r/h/net/secret").request("stranger"))
	q := change(admission.Update, "r/h/net/s1", want("r/h/net/~slot", mode.X, "in_flight")).request("me")
	p := w.state.Forecast([]admission.Request{q})
	r := w.local.Prospect(w.lens, w.state, q, conflict.BuildProspect(w.state, q, p[0]))
	c := r.Conflicts[0]
	if r.Decision != conflict.Wait || len(r.Conflicts) != 1 || c.Resource.LocalID != "net-1" || c.Relation != "ancestor" || c.ModeWanted != "X" {
		t.Errorf("%+v", r)
	}
	if text := toJSON(t, r) + conflict.Text(r); strings.Contains(text, "stranger") || strings.Contains(text, "secret") || strings.Contains(text, "r/h") {
		t.Error(text)
	}
}

// TestHiddenAbove: a lock on what is hidden above a visible object is told as
// that of somebody, on something.
func TestHiddenAbove(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "r/h", admission.Queue)
	r := blocked(t, w, map[string]op{"stranger": change(admission.Update, "r/h")})
	c := r.Conflicts[0]
	if c.Resource != (conflict.Resource{CloudID: Alias, LocalID: Alias}) || c.Class != "in_flight" || c.Relation != "" || c.ModeHeld != "" {
		t.Errorf("%+v", c)
	}
}

// TestHoldsLeaveOutWhatIsAbove: the intentions of the session's own call would
// tell how deep its object stands.
func TestHoldsLeaveOutWhatIsAbove(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "r/h", admission.Queue)
	r := blocked(t, w, nil)
	var got []string
	for _, h := range r.Holds {
		got = append(got, h.Resource.CloudID+" "+h.Mode)
	}
	if d := cmp.Diff([]string{"net-1 IX", "net-1/~slot X", "r IX", "s-1 X"}, got); d != "" {
		t.Error(d)
	}
	plan, _ := w.state.Locks().Held(lock.Owner("mine"))
	if len(plan) != 5 {
		t.Errorf("it holds %v", plan)
	}
}

// TestOrderOfHiddenReasons follows the session's own names, not the hidden ones.
func TestOrderOfHiddenReasons(t *testing.T) {
	t.Parallel()
	render := func(group graph.NodeID) string {
		w := newWorld(t, group, admission.Queue)
		w.open("stranger", admission.Queue)
		q := change(admission.Create, "r/other", want(group+"/net", mode.X, "in_flight"), want("r/g", mode.X, "in_flight")).request("stranger")
		if err := w.submit("t", q); err != nil {
			t.Fatal(err)
		}
		q = change(admission.Update, group+"/net/s1", want("r/g/vm", mode.X, "in_flight")).request("me")
		if err := w.submit("mine", q); err != nil {
			t.Fatal(err)
		}
		r := w.report("mine")
		if len(r.Conflicts) != 2 {
			t.Fatalf("%+v", r.Conflicts)
		}
		return toJSON(t, r)
	}
	if a, b := render("r/a"), render("r/z"); a != b {
		t.Error(cmp.Diff(a, b))
	}
}

// TestGuardFacts: what a guard found of a visible node is told without what the
// graph counts, whoever is behind it.
func TestGuardFacts(t *testing.T) {
	t.Parallel()
	for by, named := range map[string]bool{"pal": true, "root-h": false} {
		w := newWorld(t, "r/h", admission.Queue)
		before, _ := w.state.Graph().Get("r/h/net/s1")
		_ = w.submit("t", change(admission.Update, "r/h/net/s1").request(by))
		w.start("t")
		w.complete("t", admission.Succeeded, true)
		o := change(admission.Read, "r/h/net/s1")
		o.guards = []admission.Guard{{Kind: admission.Version, Node: "r/h/net/s1", Value: before.Version}}
		_ = w.submit("mine", o.request("me"))
		r := w.report("mine")
		if r.Decision != conflict.Replan || len(r.Conflicts) != 1 {
			t.Fatalf("%+v", r)
		}
		c := r.Conflicts[0]
		if c.Fact.What != "version changed" || c.Class != "lost_update" || c.Resource.LocalID != "s-1" || (c.Holder != nil) != named {
			t.Errorf("%s: %+v %+v", by, c, c.Fact)
		}
	}
}

// TestBuriedWithItsContainer: what goes with a hidden container is noticed; that
// whoever may notice is said to be concerned, the world sees to.
func TestBuriedWithItsContainer(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "r/h", admission.Queue)
	w.local.View(w.lens, w.state)
	o := change(admission.Delete, "r/h")
	o.guards = nil
	_ = w.submit("t", o.request("root-h"))
	w.start("t")
	w.complete("t", admission.Succeeded, false)
	v := w.local.View(w.lens, w.state)
	id, _ := w.local.Local("r/h/net")
	if n := v.Find(id); n == nil || n.Lifecycle != graph.Absent || len(v.Capacity) != 0 {
		t.Errorf("%+v %+v", n, v.Capacity)
	}
}

// TestForecastAges do not tell when somebody hidden did something last.
func TestForecastAges(t *testing.T) {
	t.Parallel()
	render := func(later bool) string {
		w := newWorld(t, "r/h", admission.Queue)
		w.open("stranger", admission.Queue)
		w.now = 1e9
		_ = w.submit("p", slotWrite(w, "r/h/net/pals").request("pal"))
		if w.now += 5e9; later {
			w.must(admission.Renew{Stamp: w.at(), Session: "stranger"})
		}
		q := change(admission.Update, "r/h/net/s1", want("r/h/net/~slot", mode.X, "in_flight")).request("me")
		p := w.state.Forecast([]admission.Request{q})
		return toJSON(t, w.local.Prospect(w.lens, w.state, q, conflict.BuildProspect(w.state, q, p[0])))
	}
	if a, b := render(false), render(true); a != b {
		t.Error(cmp.Diff(a, b))
	}
}

// TestOvercommitted: where a limit was lowered below what is held, nothing is
// left, and by how much too much is held is not told.
func TestOvercommitted(t *testing.T) {
	t.Parallel()
	render := func(amount int64) string {
		w := newWorld(t, "r/h", admission.Reject)
		w.open("stranger", admission.Queue)
		o := change(admission.Create, "r/h/nic")
		o.effects = escrow.Collect(escrow.Effect{Bucket: w.bucket(), Amount: amount})
		_ = w.submit("t", o.request("stranger"))
		w.must(admission.Measure{Stamp: w.at(), Session: "me", Began: w.state.Index(), Readings: []admission.Reading{{
			Bucket: w.bucket(), Limit: escrow.At(6),
		}}})
		o = change(admission.Create, "r/g/nic")
		o.effects = escrow.Collect(escrow.Effect{Bucket: w.bucket(), Amount: 1})
		_ = w.submit("mine", o.request("me"))
		v := w.local.View(w.lens, w.state)
		if v.Capacity[0].Available != 0 || v.Capacity[0].Limit != 6 {
			t.Errorf("%+v", v.Capacity[0])
		}
		return toJSON(t, v) + toJSON(t, w.report("mine")) + string(w.lens.AppendTo(nil, w.state))
	}
	if a, b := render(5), render(7); a != b {
		t.Error(cmp.Diff(a, b))
	}
}
