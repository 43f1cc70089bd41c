// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package conflict

import (
	"strings"
	"testing"

	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/core/escrow"
	"github.com/tfweaver/tfweaver/internal/core/graph"
	"github.com/tfweaver/tfweaver/internal/core/lock"
	"github.com/tfweaver/tfweaver/internal/core/mode"
)

const quota = graph.NodeID("r/quotas/cores")

// fleet is the reservation of one machine that takes cores.
func fleet(session admission.SessionID, cores int64) admission.Request {
	return admission.Request{
		Session: session, Action: admission.Reserve, Nodes: machine(),
		Calls: []admission.Planned{{
			ID: "create sim_machine.m", Self: "r/m", Action: admission.Create,
			Effects: escrow.Collect(escrow.Effect{Bucket: admission.BucketOf(quota, "cores"), Amount: cores}),
		}},
	}
}

func machine() []graph.Decl {
	return []graph.Decl{
		{ID: "r", Kind: graph.Realm},
		{ID: "r/m", Parent: "r", Kind: graph.Resource, Type: "sim_machine"},
	}
}

func (s *story) measure(limit, use int64) {
	s.do(admission.Measure{Stamp: s.at(), Session: "net-7", Began: s.Index(), Readings: []admission.Reading{{
		Bucket: admission.BucketOf(quota, "cores"), Limit: escrow.At(limit), Use: escrow.At(use),
	}}})
}

// TestShortage: a report about capacity gives the bucket, the limit, what is
// used and reserved, and by whom.
func TestShortage(t *testing.T) {
	t.Parallel()
	s := tell(t, admission.Queue)
	s.measure(20, 2)
	s.do(admission.Submit{Stamp: s.at(), ID: "t-1", Request: fleet("net-7", 12)})
	s.do(admission.Submit{Stamp: s.at(), ID: "t-2", Request: fleet("web-3", 8)})
	s.do(admission.Submit{Stamp: s.at(), ID: "t-3", Request: fleet("web-3", 19)})

	waits := Build(s.State, "t-2", "web-3")
	want := Capacity{Bucket: "cores", Limit: 20, Used: 2, Reserved: 12, Theirs: 12, Asked: 8}
	if got := waits.Conflicts[0]; waits.Decision != Wait || got.Capacity == nil || *got.Capacity != want || got.Holder.Actor != "alice" || got.Fact == nil {
		t.Errorf("%s %+v", waits.Decision, got)
	}
	lacks(t, Text(waits), "The plan waits: 8 asked of cores, limit 20: 2 used, 12 reserved, by alice (session net-7, intent 'add app subnet', 2 s")

	never := Build(s.State, "t-3", "web-3")
	if c := never.Conflicts[0].Capacity; never.Decision != Reject || c == nil || !c.Hopeless {
		t.Errorf("%s %+v", never.Decision, c)
	}
	lacks(t, Text(never), "The plan is refused: 19 asked of cores, limit 20: 2 used", "Raise the limit or free some")
}

// TestNeverFits: what is more than the limit has nothing to do with others.
func TestNeverFits(t *testing.T) {
	t.Parallel()
	s := tell(t, admission.Queue)
	s.measure(20, 2)
	s.do(admission.Submit{Stamp: s.at(), ID: "t-1", Request: fleet("net-7", 12)})
	s.do(admission.Submit{Stamp: s.at(), ID: "t-2", Request: fleet("web-3", 21)})
	never := Build(s.State, "t-2", "web-3")
	lacks(t, Text(never), "The plan is refused: 21 asked of cores, which can never fit: the limit is 20.", "Raise the limit or ask for less, then run again")
	if len(never.Actions) == 0 || never.Actions[0].Text != "raise the limit of cores, or ask for less" {
		t.Errorf("advice %+v", never.Actions)
	}
}

// TestPlaceOfACount: a quota is one of many that have its name.
func TestPlaceOfACount(t *testing.T) {
	t.Parallel()
	for id, want := range map[string]string{
		"/subscriptions/s/providers/P/locations/westeurope/quotas/cores": "4 asked of quota cores in westeurope, limit 8: 1 used",
		"r/quotas/cores": "4 asked of quota cores, limit 8: 1 used",
	} {
		r := Report{ID: "t-1", Decision: Reject, Conflicts: []Conflict{{
			Resource: Resource{CloudID: id, Type: "sim_quota"}, Capacity: &Capacity{Bucket: "cores", Limit: 8, Used: 1, Asked: 4},
		}}}
		lacks(t, Text(r), want)
	}
}

// TestTakers: where nothing is in flight any more, the report names those whose
// finished changes took what is in use.
func TestTakers(t *testing.T) {
	t.Parallel()
	s := tell(t, admission.Queue)
	s.measure(20, 0)
	q := admission.Request{
		Session: "net-7", Action: admission.Create, Address: "sim_machine.m", Self: "r/m", Nodes: machine(),
		Effects: escrow.Collect(escrow.Effect{Bucket: admission.BucketOf(quota, "cores"), Amount: 12}),
	}
	s.do(admission.Submit{Stamp: s.at(), ID: "t-1", Request: q})
	tx, _ := s.Tx("t-1")
	s.do(admission.Start{Stamp: s.at(), Tx: "t-1", Token: tx.Token})
	s.do(admission.Complete{Stamp: s.at(), Tx: "t-1", Token: tx.Token, Result: admission.Succeeded})
	s.do(admission.CloseSession{Stamp: s.at(), Session: "net-7"})
	s.do(admission.Submit{Stamp: s.at(), ID: "t-2", Request: fleet("web-3", 12)})
	never := Build(s.State, "t-2", "web-3")
	c := never.Conflicts[0]
	if never.Decision != Reject || c.Holder == nil || c.Holder.Actor != "alice" || c.Capacity.Theirs != 12 || c.Capacity.Reserved != 0 {
		t.Errorf("%s %+v %+v", never.Decision, c.Holder, c.Capacity)
	}
	lacks(t, Text(never), "limit 20: 12 used, 0 reserved; 12 of the used by alice (session net-7, intent 'add app subnet'")
}

// TestDoubt: what is in flight while use is read may be counted in it; the
// report does not let the same machine seem to be there twice.
func TestDoubt(t *testing.T) {
	t.Parallel()
	s := tell(t, admission.Queue)
	s.measure(20, 0)
	q := admission.Request{
		Session: "net-7", Action: admission.Create, Address: "sim_machine.m", Self: "r/m", Nodes: machine(),
		Effects: escrow.Collect(escrow.Effect{Bucket: admission.BucketOf(quota, "cores"), Amount: 12}),
	}
	s.do(admission.Submit{Stamp: s.at(), ID: "t-1", Request: q})
	tx, _ := s.Tx("t-1")
	s.do(admission.Start{Stamp: s.at(), Tx: "t-1", Token: tx.Token})
	s.measure(20, 12)
	s.do(admission.Submit{Stamp: s.at(), ID: "t-2", Request: fleet("web-3", 8)})
	waits := Build(s.State, "t-2", "web-3")
	if c := waits.Conflicts[0].Capacity; waits.Decision != Wait || c.Used != 12 || c.Reserved != 12 || c.Doubt != 12 {
		t.Errorf("%s %+v", waits.Decision, c)
	}
	lacks(t, Text(waits), "12 used, which may be with 12 of the 12 reserved, by alice")
}

func lacks(t *testing.T, text string, parts ...string) {
	t.Helper()
	flat := strings.Join(strings.Fields(text), " ")
	for _, p := range parts {
		if !strings.Contains(flat, p) {
			t.Errorf("%q is not in\n%s", p, text)
		}
	}
	if n := strings.Count(text, "\n"); n > 2 {
		t.Errorf("%d lines:\n%s", n+1, text)
	}
}

// replace is a reservation for the replace of the machine, and call one of its
// calls.
func replace(session admission.SessionID) admission.Request {
	locks := lock.Close([]lock.Want{{Node: "r/m", Mode: mode.X, Relation: lock.Same}}, func(id graph.NodeID) (graph.NodeID, bool) {
		return "r", id != "r"
	})
	return admission.Request{
		Session: session, Action: admission.Reserve, Nodes: machine(),
		Calls: []admission.Planned{
			{ID: "create sim_machine.m", Self: "r/m", Action: admission.Create, Locks: locks, After: []admission.CallID{"delete sim_machine.m"}, Group: "m"},
			{ID: "delete sim_machine.m", Self: "r/m", Action: admission.Delete, Locks: locks, Group: "m"},
		},
	}
}

func call(session admission.SessionID, action admission.Action, plan admission.TxID) admission.Request {
	p := replace(session).Calls[0]
	q := admission.Request{
		Session: session, Action: action, Address: "sim_machine.m", Type: "sim_machine", Self: "r/m", Nodes: machine(), Locks: p.Locks, Plan: plan,
	}
	if plan != "" {
		q.Call = admission.CallID(string(action) + " sim_machine.m")
	}
	return q
}

// TestClaims: whoever waits for a replace is told so, also between its calls;
// and after its owner is gone, that it was left half done, and by whom.
func TestClaims(t *testing.T) {
	t.Parallel()
	s := tell(t, admission.Queue)
	s.do(admission.Submit{Stamp: s.at(), ID: "t-1", Request: replace("net-7")})
	s.do(admission.Submit{Stamp: s.at(), ID: "t-2", Request: call("net-7", admission.Delete, "t-1")})
	tx, _ := s.Tx("t-2")
	s.do(admission.Start{Stamp: s.at(), Tx: "t-2", Token: tx.Token})
	s.do(admission.Complete{Stamp: s.at(), Tx: "t-2", Token: tx.Token, Result: admission.Succeeded})
	q := call("web-3", admission.Update, "")
	q.Guards = []admission.Guard{{Kind: admission.Present, Node: "r/m"}}
	s.do(admission.Submit{Stamp: s.at(), ID: "t-3", Request: q})

	waits := Build(s.State, "t-3", "web-3")
	if h := waits.Conflicts[0].Holder; h == nil || !h.Claim || h.State != Running || h.Objective != "add app subnet" {
		t.Errorf("%+v", h)
	}
	lacks(t, Text(waits), "machine m is being replaced by alice (session net-7, intent 'add app subnet', 3 s")

	s.do(admission.Deceased{Stamp: s.at(), Session: "net-7"})
	broken := Build(s.State, "t-3", "web-3")
	if h := broken.Conflicts[0].Holder; broken.Decision != Replan || h == nil || h.Result != admission.HalfReplaced || !h.Dead {
		t.Errorf("%s %+v", broken.Decision, h)
	}
	lacks(t, Text(broken), "machine m is not there, left half replaced by alice")
}

// TestDeadHalf: a destroy whose create has failed names the create.
func TestDeadHalf(t *testing.T) {
	t.Parallel()
	s := tell(t, admission.Queue)
	plan := replace("net-7")
	plan.Calls[0].After, plan.Calls[1].After = nil, []admission.CallID{"create sim_machine.m"}
	s.do(admission.Submit{Stamp: s.at(), ID: "t-1", Request: plan})
	s.do(admission.Submit{Stamp: s.at(), ID: "t-2", Request: call("net-7", admission.Create, "t-1")})
	s.do(admission.Withdraw{Stamp: s.at(), Tx: "t-2"})
	s.do(admission.Submit{Stamp: s.at(), ID: "t-3", Request: call("net-7", admission.Delete, "t-1")})
	r := Build(s.State, "t-3", "net-7")
	if r.Decision != Reject || r.Conflicts[0].Failed != "create sim_machine.m" {
		t.Errorf("%+v", r)
	}
	lacks(t, Text(r), `without "create sim_machine.m", which has failed, it is not sent`, "Mend that first")
}

// TestExceeded: what a held plan did not foresee is refused, naming who has it.
func TestExceeded(t *testing.T) {
	t.Parallel()
	s := tell(t, admission.Queue)
	plan := replace("net-7")
	plan.Whole = true
	s.do(admission.Submit{Stamp: s.at(), ID: "t-1", Request: plan})
	other := call("web-3", admission.Update, "")
	other.Self, other.Nodes = "r/n", append(machine(), graph.Decl{ID: "r/n", Parent: "r", Kind: graph.Resource, Type: "sim_net"})
	other.Locks = lock.Plan{{Node: "r", Mode: mode.IX, Relation: lock.Ancestor}, {Node: "r/n", Mode: mode.X, Relation: lock.Same}}
	s.do(admission.Submit{Stamp: s.at(), ID: "t-2", Request: other})
	q := call("net-7", admission.Delete, "t-1")
	q.Locks = append(append(lock.Plan(nil), q.Locks...), lock.Want{Node: "r/n", Mode: mode.S, Relation: lock.Reference})
	s.do(admission.Submit{Stamp: s.at(), ID: "t-3", Request: q})
	r := Build(s.State, "t-3", "net-7")
	if r.Decision != Reject || !r.Conflicts[0].Exceeded || r.Conflicts[0].Holder.Actor != "bob" {
		t.Errorf("%+v", r)
	}
	lacks(t, Text(r), "it needs more than was held for its plan, and net n is about to be changed by bob")
}

// TestPassed: the report of a call that goes on regardless has no decision, and
// says what it goes on past.
func TestPassed(t *testing.T) {
	t.Parallel()
	s := tell(t, admission.Queue)
	s.do(admission.Submit{Stamp: s.at(), ID: "t-1", Request: call("net-7", admission.Update, "")})
	q := call("web-3", admission.Update, "")
	q.Advisory = true
	s.do(admission.Submit{Stamp: s.at(), ID: "t-2", Request: q})
	r := Build(s.State, "t-2", "web-3")
	if r.Decision != "" || r.Status != string(admission.Admitted) || len(r.Conflicts) != 1 || r.Conflicts[0].Holder.Actor != "alice" {
		t.Errorf("%+v", r)
	}
}

// TestWithin: whoever waits for something inside the object is told what that
// is, and not that the object itself is being changed.
func TestWithin(t *testing.T) {
	t.Parallel()
	s := tell(t, admission.Queue)
	nodes := []graph.Decl{
		{ID: "r", Kind: graph.Realm},
		{ID: "r/v", Parent: "r", Kind: graph.Resource, Type: "sim_network"},
		{ID: "r/v/s", Parent: "r/v", Kind: graph.Resource, Type: "sim_subnet"},
	}
	up := func(id graph.NodeID) (graph.NodeID, bool) {
		i := strings.LastIndexByte(string(id), '/')
		return id[:max(i, 0)], i > 0
	}
	write := func(session admission.SessionID, id graph.NodeID, address string, action admission.Action) admission.Request {
		locks := lock.Close([]lock.Want{{Node: id, Mode: mode.X, Relation: lock.Same}}, up)
		return admission.Request{Session: session, Action: action, Address: address, Self: id, Nodes: nodes, Locks: locks}
	}
	s.do(admission.Submit{Stamp: s.at(), ID: "t-1", Request: write("net-7", "r/v/s", "sim_subnet.s", admission.Create)})
	tx, _ := s.Tx("t-1")
	s.do(admission.Start{Stamp: s.at(), Tx: "t-1", Token: tx.Token})
	s.do(admission.Submit{Stamp: s.at(), ID: "t-2", Request: write("web-3", "r/v", "sim_network.v", admission.Delete)})
	lacks(t, Text(Build(s.State, "t-2", "web-3")), "sim_network.v waits: sim_subnet.s in network v is being created by alice")
}

// TestWithinIsOfLocks: only an intention is about something further in, and only
// where the holder says what that is.
func TestWithinIsOfLocks(t *testing.T) {
	t.Parallel()
	at := func(id, held string, address string) Conflict {
		return Conflict{Resource: Resource{CloudID: id}, ModeHeld: held, Holder: &Holder{Address: address}}
	}
	short := at("r/v", "IX", "sim.s")
	short.Capacity = &Capacity{}
	for name, c := range map[string]struct {
		c    Conflict
		want bool
	}{
		"inside":     {at("r/v", "IX", "sim.s"), true},
		"looks in":   {at("r/v", "IS", "sim.s"), true},
		"itself":     {at("r/v", "X", "sim.s"), false},
		"nameless":   {at("r/v", "IX", ""), false},
		"of a facet": {at("r/v/~slot", "IX", "sim.s"), false},
		"capacity":   {short, false},
	} {
		if got := within(c.c); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
