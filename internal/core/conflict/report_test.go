// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package conflict

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/cockroachdb/datadriven"
	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/core/graph"
	"github.com/tfweaver/tfweaver/internal/core/lock"
	"github.com/tfweaver/tfweaver/internal/core/mode"
)

// story is a state in the making.
type story struct {
	t *testing.T
	*admission.State
	now time.Time
}

const second = int64(time.Second)

// tell opens the two sessions of every case: alice, and bob who asks.
func tell(t *testing.T, bobs admission.Policy) *story {
	s := &story{t: t, State: admission.New(), now: time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)}
	for _, x := range []struct {
		session   admission.Session
		objective string
	}{
		{admission.Session{ID: "net-7", Actor: "alice", Tool: "tfweaver 0.1.0", RunURL: "https://ci.example/7", Origin: "state-a"}, "add app subnet"},
		{admission.Session{ID: "web-3", Actor: "bob", Origin: "state-b", Policy: bobs}, "roll out web"},
	} {
		x.session.Lease = 3600 * second
		intent := admission.IntentID("i-" + x.session.ID)
		s.do(admission.OpenSession{Stamp: s.at(), Session: x.session, Intent: admission.Intent{ID: intent, Objective: x.objective}})
	}
	return s
}

func (s *story) at() admission.Stamp {
	s.now = s.now.Add(time.Second)
	return admission.Stamp{Now: s.now.UnixNano()}
}

func (s *story) do(c admission.Command) {
	s.t.Helper()
	if _, err := s.Apply(c); err != nil {
		s.t.Fatalf("%T: %v", c, err)
	}
}

// pass lets time go by: a heartbeat is a record.
func (s *story) pass(d time.Duration) {
	s.now = s.now.Add(d)
	s.do(admission.Renew{Stamp: s.at(), Session: "net-7"})
	s.do(admission.Renew{Stamp: s.at(), Session: "web-3"})
}

const vnet = graph.NodeID("sub/rg/vnet-1")

func nodes() []graph.Decl {
	return []graph.Decl{
		{ID: "sub", Kind: graph.Realm},
		{ID: "sub/rg", Parent: "sub", Kind: graph.Resource, Type: "simcloud_resource_group"},
		{ID: vnet, Parent: "sub/rg", Kind: graph.Resource, Type: "simcloud_virtual_network"},
		{ID: vnet + "/~slot", Parent: vnet, Kind: graph.Facet},
		{ID: vnet + "/a", Parent: vnet, Kind: graph.Resource, Type: "simcloud_subnet"},
		{ID: vnet + "/b", Parent: vnet, Kind: graph.Resource, Type: "simcloud_subnet"},
		{ID: "sub/rg/nic-9", Parent: "sub/rg", Kind: graph.Resource, Type: "simcloud_network_interface"},
	}
}

func (s *story) submit(id string, q admission.Request, wants ...lock.Want) {
	s.t.Helper()
	q.Nodes = nodes()
	s.submitAt(id, q, wants...)
}

// submitAt submits a request that places its own nodes.
func (s *story) submitAt(id string, q admission.Request, wants ...lock.Want) {
	s.t.Helper()
	g := graph.New()
	if err := g.Place(q.Nodes); err != nil {
		s.t.Fatal(err)
	}
	q.Locks = lock.Close(wants, g.Parent)
	s.do(admission.Submit{Stamp: s.at(), ID: admission.TxID(id), Request: q})
}

func (s *story) start(id string) admission.Tx {
	s.t.Helper()
	tx, _ := s.Tx(admission.TxID(id))
	s.do(admission.Start{Stamp: s.at(), Tx: tx.ID, Token: tx.Token})
	return tx
}

func (s *story) end(id string, r admission.Result, exists bool) {
	s.t.Helper()
	tx := s.start(id)
	s.do(admission.Complete{Stamp: s.at(), Tx: tx.ID, Token: tx.Token, Result: r, Exists: exists})
}

func own(id graph.NodeID) lock.Want {
	return lock.Want{Node: id, Mode: mode.X, Relation: lock.Same, Class: "in_flight"}
}

func slot(op string) lock.Want {
	return lock.Want{Node: vnet + "/~slot", Mode: mode.X, Relation: lock.Rule, Rule: "simcloud/simcloud_subnet." + op + "#slot", Class: "in_flight"}
}

func subnet(session admission.SessionID, name string) admission.Request {
	return admission.Request{
		Session: session, Action: admission.Create, Address: "simcloud_subnet." + name, Type: "simcloud_subnet",
		Self: vnet + "/" + graph.NodeID(name),
	}
}

func (s *story) subnetA() { s.submit("t-11", subnet("net-7", "a"), own(vnet+"/a"), slot("create")) }
func (s *story) subnetB() { s.submit("t-12", subnet("web-3", "b"), own(vnet+"/b"), slot("create")) }

func network(session admission.SessionID, a admission.Action) admission.Request {
	return admission.Request{
		Session: session, Action: a, Address: "simcloud_virtual_network.main", Type: "simcloud_virtual_network", Self: vnet,
	}
}

func onNetwork(s *story) admission.Request {
	q := subnet("web-3", "b")
	q.Guards = []admission.Guard{{Kind: admission.Present, Node: vnet, Rule: "simcloud/simcloud_subnet.create#parent"}}
	return q
}

// cases are the situations that reports are about; all explain t-12.
func cases() map[string]func(t *testing.T) *story {
	queue, reject := admission.Queue, admission.Reject
	return map[string]func(t *testing.T) *story{
		"running": func(t *testing.T) *story {
			s := tell(t, queue)
			s.subnetA()
			s.start("t-11")
			s.pass(38 * time.Second)
			s.subnetB()
			return s
		},
		"admitted": func(t *testing.T) *story {
			s := tell(t, queue)
			s.subnetA()
			s.subnetB()
			return s
		},
		"uncertain": func(t *testing.T) *story {
			s := tell(t, queue)
			s.subnetA()
			s.end("t-11", admission.Lost, false)
			s.pass(2 * time.Hour)
			s.subnetB()
			return s
		},
		"behind a waiter": func(t *testing.T) *story {
			s := tell(t, queue)
			s.submit("t-1", network("web-3", admission.Update), slot("update"))
			s.subnetA()
			s.subnetB()
			return s
		},
		"own run": func(t *testing.T) *story {
			s := tell(t, reject)
			s.submit("t-1", network("web-3", admission.Update), slot("update"))
			s.start("t-1")
			s.subnetB()
			return s
		},
		"rejected": func(t *testing.T) *story {
			s := tell(t, reject)
			s.submit("t-11", network("net-7", admission.Delete), own(vnet))
			s.start("t-11")
			s.pass(3 * time.Minute)
			s.subnetB()
			return s
		},
		"declared": func(t *testing.T) *story {
			s := tell(t, queue)
			s.do(admission.Declare{Stamp: s.at(), Session: "net-7", Creates: nodes(), Selves: []graph.NodeID{vnet}})
			s.submit("t-12", onNetwork(s), own(vnet+"/b"), slot("create"))
			return s
		},
		"being created": func(t *testing.T) *story {
			s := tell(t, queue)
			s.do(admission.Declare{Stamp: s.at(), Session: "net-7", Creates: nodes(), Selves: []graph.NodeID{vnet}})
			s.submit("t-11", network("net-7", admission.Create), own(vnet))
			s.start("t-11")
			s.pass(3 * time.Second)
			s.submit("t-12", onNetwork(s), own(vnet+"/b"), slot("create"))
			return s
		},
		"gone": func(t *testing.T) *story {
			s := tell(t, queue)
			s.submit("t-11", network("net-7", admission.Delete), own(vnet))
			s.end("t-11", admission.Succeeded, false)
			s.pass(time.Minute)
			s.submit("t-12", onNetwork(s), own(vnet+"/b"), slot("create"))
			return s
		},
		"referenced": func(t *testing.T) *story {
			s := tell(t, queue)
			nic := admission.Request{
				Session: "net-7", Action: admission.Create, Address: "simcloud_network_interface.n",
				Type: "simcloud_network_interface", Self: "sub/rg/nic-9",
				Edges: []graph.Edge{{From: "sub/rg/nic-9", To: vnet + "/b", Kind: graph.References}},
			}
			s.submit("t-11", nic, own("sub/rg/nic-9"))
			s.end("t-11", admission.Succeeded, true)
			q := subnet("web-3", "b")
			q.Action = admission.Delete
			q.Guards = []admission.Guard{{Kind: admission.Unreferenced, Node: q.Self, Rule: "simcloud/simcloud_subnet.delete#in-use"}}
			s.submit("t-12", q, own(vnet+"/b"), slot("delete"))
			return s
		},
		"replaced": func(t *testing.T) *story {
			s := tell(t, queue)
			s.submit("t-11", network("net-7", admission.Create), own(vnet))
			s.end("t-11", admission.Succeeded, true)
			q := network("web-3", admission.Update)
			q.Guards = []admission.Guard{{Kind: admission.SameLife, Node: vnet}}
			s.submit("t-12", q, own(vnet))
			return s
		},
		"stale": func(t *testing.T) *story {
			s := tell(t, queue)
			s.submit("t-11", network("net-7", admission.Update), own(vnet))
			s.end("t-11", admission.Succeeded, true)
			q := network("web-3", admission.Update)
			q.Guards = []admission.Guard{{Kind: admission.Version, Node: vnet, Value: 1}}
			s.submit("t-12", q, own(vnet))
			return s
		},
		"not waiting": func(t *testing.T) *story {
			s := tell(t, queue)
			s.subnetB()
			return s
		},
		"unknown": func(t *testing.T) *story { return tell(t, queue) },
	}
}

// TestReports compares the text and the JSON of every case with testdata.
// "text CASE" and "json CASE [viewer=S | outside]" print a report about t-12;
// outside is for somebody without a session, who asks why.
func TestReports(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	datadriven.RunTest(t, "testdata/reports", func(t *testing.T, d *datadriven.TestData) string {
		name := strings.ReplaceAll(d.CmdArgs[0].Key, "_", " ")
		build := everything()[name]
		if build == nil {
			t.Fatalf("no case %q", name)
		}
		seen[name] = true
		viewer := admission.SessionID("web-3")
		for _, a := range d.CmdArgs {
			switch a.Key {
			case "viewer":
				viewer = admission.SessionID(a.Vals[0])
			case "outside":
				viewer = ""
			}
		}
		r := Build(build(t).State, "t-12", viewer)
		if d.Cmd == "text" {
			return Text(r)
		}
		data, err := json.MarshalIndent(r, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	})
	for name := range everything() {
		if !seen[name] {
			t.Errorf("case %q is not in testdata", name)
		}
	}
}

// TestTextFits: whatever other people call things, the text keeps its shape,
// and their control characters do not reach the terminal.
func TestTextFits(t *testing.T) {
	t.Parallel()
	nasty := []string{
		"", "x", strings.Repeat("long ", 80), strings.Repeat("ä", 300), "two\nlines", "\x1b[31mred\x1b[0m", "tab\tbell\a",
	}
	for name, build := range everything() {
		r := Build(build(t).State, "t-12", "")
		for _, s := range nasty {
			r.Address = s
			r.Requester = Party{Session: s, Intent: s, Actor: s, RunURL: s}
			if r.Outcome != nil {
				r.Outcome.Cause, r.Outcome.By, r.Outcome.Reason = s, s, s
			}
			if r.Object != nil {
				r.Object = &Resource{CloudID: s, Type: s}
			}
			for i := range r.Conflicts {
				c := &r.Conflicts[i]
				c.Resource.CloudID, c.Resource.Type = s, s
				if c.Fact != nil && c.Fact.Object != nil {
					c.Fact.Object = &Resource{CloudID: s, Type: s, Address: s}
				}
				if c.Holder != nil {
					c.Holder.Address = s
					c.Holder.Actor, c.Holder.Session, c.Holder.Objective, c.Holder.RunURL = s, s, s, s
				}
			}
			text := Text(r)
			lines := strings.Split(text, "\n")
			if len(lines) > 3 || text == "" {
				t.Errorf("%s: %d lines", name, len(lines))
			}
			for _, l := range lines {
				if utf8.RuneCountInString(l) > Width {
					t.Errorf("%s: a line of %d columns", name, utf8.RuneCountInString(l))
				}
				if strings.ContainsAny(l, "\x1b\a\t\r") {
					t.Errorf("%s: control characters in %q", name, l)
				}
			}
		}
	}
}

// TestNeverOneself: a wait for the own run does not read as somebody else's
// doing, and a foreign holder is never given the requester's name (C16).
func TestNeverOneself(t *testing.T) {
	t.Parallel()
	for name, build := range cases() {
		r := Build(build(t).State, "t-12", "web-3")
		text := Text(r)
		foreign := false
		for _, c := range r.Conflicts {
			if c.Holder != nil && c.Holder.Session != "web-3" {
				foreign = true
				if c.Holder.Actor != "alice" || c.Holder.Objective != "add app subnet" {
					t.Errorf("%s: holder %+v", name, c.Holder)
				}
			}
		}
		if foreign && (strings.Contains(text, "bob") || !strings.Contains(text, "alice")) {
			t.Errorf("%s: %s", name, text)
		}
		if !foreign && strings.Contains(text, "alice") {
			t.Errorf("%s: %s", name, text)
		}
	}
}

// TestRedactedHolderIsNotInvented: a report with a hidden holder says so.
func TestRedactedHolderIsNotInvented(t *testing.T) {
	t.Parallel()
	r := Build(cases()["running"](t).State, "t-12", "web-3")
	r.Conflicts[0].Holder = &Holder{Session: "alias-1", State: Running, Redacted: true}
	text := Text(r)
	if !strings.Contains(text, "another session") || strings.Contains(text, "alias-1") || strings.Contains(text, "alice") {
		t.Error(text)
	}
}

// TestResolveOnlyForUncertain: nobody is told to override a running call.
func TestResolveOnlyForUncertain(t *testing.T) {
	t.Parallel()
	for name, build := range everything() {
		for _, viewer := range []admission.SessionID{"", "web-3", "net-7"} {
			r := Build(build(t).State, "t-12", viewer)
			tx := map[string]string{"uncertain": "t-11", "lost": "t-12", "lost far down": "t-12"}[name]
			var want []string
			if tx != "" {
				want = []string{"tfweaver resolve " + tx + " -reason TEXT -exists", "tfweaver resolve " + tx + " -reason TEXT -gone"}
			}
			var told []string
			for _, a := range r.Actions {
				if strings.Contains(a.Command, "resolve") {
					told = append(told, a.Command)
				}
			}
			if !slices.Equal(told, want) {
				t.Errorf("%s for %q: %q, want %q", name, viewer, told, want)
			}
			if text := Text(r); tx != "" && (!strings.Contains(text, "`"+want[0]+"`") || !strings.Contains(text, "`-gone`")) {
				t.Errorf("%s for %q: %s", name, viewer, text)
			}
		}
	}
}

// TestProspects: a forecast is explained like the decision would be.
func TestProspects(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"running", "uncertain", "rejected", "gone", "referenced"} {
		s := cases()[name](t)
		tx, _ := s.Tx("t-12")
		s.do(admission.CloseSession{Stamp: s.at(), Session: "web-3"})
		open := admission.OpenSession{Stamp: s.at(), Session: admission.Session{ID: "web-4", Lease: second * 60, Origin: "state-b"}}
		open.Session.Policy = map[bool]admission.Policy{true: admission.Reject}[name == "rejected"]
		open.Intent = admission.Intent{ID: "i-web-4", Objective: "again"}
		s.do(open)
		q := tx.Request
		q.Session, q.Intent = "web-4", ""
		got := BuildProspect(s.State, q, s.Forecast([]admission.Request{q})[0])
		want := Build(cases()[name](t).State, "t-12", "")
		if got.Decision != want.Decision || len(got.Conflicts) != len(want.Conflicts) || got.ID != q.Address {
			t.Errorf("%s: %s with %d conflicts, want %s with %d",
				name, got.Decision, len(got.Conflicts), want.Decision, len(want.Conflicts))
		}
		if len(got.Actions) == 0 {
			t.Errorf("%s: no advice", name)
		}
		if said := Text(got) + fmt.Sprint(got.Actions); strings.Contains(said, "tfweaver why") || strings.Contains(said, "Ctrl-C") {
			t.Errorf("%s: there is nothing to ask about or to leave yet: %s", name, said)
		}
		if told := strings.Contains(Text(got), "tfweaver resolve t-11 "); told != (name == "uncertain") {
			t.Errorf("%s: %s", name, Text(got))
		}
	}
	s := tell(t, admission.Queue)
	q := subnet("web-3", "b")
	q.Nodes = nodes()
	if r := BuildProspect(s.State, q, s.Forecast([]admission.Request{q})[0]); r.Decision != "" || len(r.Conflicts) != 0 {
		t.Errorf("an admitted request: %+v", r)
	}
}

func TestDuration(t *testing.T) {
	t.Parallel()
	for seconds, want := range map[float64]string{0.4: "0 s", 59.9: "59 s", 60: "1 min", 3599: "59 min", 7260: "2 h 1 min"} {
		if got := duration(seconds); got != want {
			t.Errorf("%v: %s, want %s", seconds, got, want)
		}
	}
}

// TestLeaveToReading: who is told to settle what will be read is told to wait for
// that instead, and of the rest what they were told.
func TestLeaveToReading(t *testing.T) {
	t.Parallel()
	mine, theirs := settle("t-1"), settle("t-2")
	leave := Advice{Verb: "abort", Text: "give up"}
	r := Report{Actions: slices.Concat(mine, []Advice{leave}, theirs)}
	for name, c := range map[string]struct {
		read func(string) bool
		want []Advice
	}{
		"none": {func(string) bool { return false }, r.Actions},
		"one":  {func(id string) bool { return id == "t-1" }, slices.Concat([]Advice{leave}, theirs, []Advice{{Verb: "wait", Text: ReadBack}})},
		"all":  {func(string) bool { return true }, []Advice{leave, {Verb: "wait", Text: ReadBack}}},
	} {
		got := LeaveToReading(r, c.read)
		if !slices.Equal(got.Actions, c.want) || reads(got) != (name != "none") {
			t.Errorf("%s: %v", name, got.Actions)
		}
	}
	if none := LeaveToReading(Report{}, func(string) bool { return true }); none.Actions != nil {
		t.Errorf("advice from nowhere: %v", none.Actions)
	}
}

// TestOnlyForecastsAreForecasts: what has neither a status nor the id of its
// address is no forecast, but something that nobody knows.
func TestOnlyForecastsAreForecasts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		r    Report
		want bool
	}{
		{Report{}, true},
		{Report{ID: "sim.a", Address: "sim.a"}, true},
		{Report{ID: "t-1", Address: "sim.a"}, false},
		{Report{ID: "t-1"}, false},
		{Report{Status: "queued", ID: "sim.a", Address: "sim.a"}, false},
		{Report{Status: "queued"}, false},
	} {
		if got := c.r.forecast(); got != c.want {
			t.Errorf("%+v: %t", c.r, got)
		}
	}
}

// TestStepOfAWait: who waits may leave, but for whom there is something else to
// do, and for whom only asked.
func TestStepOfAWait(t *testing.T) {
	t.Parallel()
	wait := Report{ID: "t-1", Address: "sim.a", Status: "queued", Decision: Wait}
	abort, other := wait, wait
	abort.Actions = []Advice{{Verb: "abort"}}
	other.Actions = []Advice{{Verb: "wait", Text: ReadBack}}
	asked := wait
	asked.ID, asked.Status = asked.Address, ""
	for want, list := range map[string][]Report{"Ctrl-C to leave": {wait, abort}, "": {other, asked}} {
		for _, r := range list {
			if got := step(r); got != want {
				t.Errorf("%+v: %q", r, got)
			}
		}
	}
}
