// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package gatekeeper

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tfweaver/tfweaver/internal/coordinator"
	"github.com/tfweaver/tfweaver/internal/coordinator/client"
	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/core/conflict"
	"github.com/tfweaver/tfweaver/internal/core/graph"
	"github.com/tfweaver/tfweaver/internal/ruleengine"
	"github.com/tfweaver/tfweaver/wrapper/intercept"
	"github.com/tfweaver/tfweaver/wrapper/views"
)

func plan(types ...string) changes {
	var c changes
	for _, name := range types {
		c.ops = append(c.ops, ruleengine.Operation{Type: name, Address: name + ".x", Action: admission.Create})
	}
	return c
}

func TestForecastWithoutAPlan(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	r.Plan(nil)
	f, err := r.Forecast(t.Context(), true)
	if err != nil || f.Changes != 0 || len(r.session.forecasts) != 0 {
		t.Errorf("forecast %+v, %v", f, err)
	}
}

func TestForecastOfLogicalObjectsAsksNobody(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(c *Config) { c.Engine = fakeEngine{logical: true} })
	r.Plan(plan("random_id"))
	if f, err := r.Forecast(t.Context(), true); err != nil || !f.Quiet() || len(r.session.forecasts) != 0 {
		t.Errorf("forecast %+v, %v", f, err)
	}
}

func TestForecastCountsWhatTheRulesCover(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(c *Config) { c.Engine = fakeEngine{unruled: true} })
	r.Plan(plan("z_thing", "a_thing", "z_thing"))
	r.session.prospects = func(q []admission.Request) []client.Prospect { return make([]client.Prospect, len(q)) }
	f, err := r.Forecast(t.Context(), true)
	if err != nil {
		t.Fatal(err)
	}
	if f.Changes != 3 || f.Covered != 0 || !cmp.Equal(f.Uncovered, []string{"a_thing", "z_thing"}) {
		t.Errorf("forecast %+v", f)
	}
	if call := r.session.forecasts[0]; !call.declare || call.requests[0].Session != "bob-1" {
		t.Errorf("asked %+v", call)
	}
}

func TestForecastLeavesOutWhatThePlanResolves(t *testing.T) {
	t.Parallel()
	inUse := func(by string) conflict.Conflict {
		return conflict.Conflict{
			Relation: "guard", Class: "dependency", Resource: conflict.Resource{CloudID: "/net/other"},
			Fact: &conflict.Fact{What: "attaches " + by}, Holder: &conflict.Holder{Session: "alice-7"},
		}
	}
	own := conflict.Conflict{Relation: "rule", Holder: &conflict.Holder{Session: "bob-1", State: conflict.Running}}
	changed := conflict.Conflict{Relation: "guard", Class: "lost_update", Fact: &conflict.Fact{What: "absent"}}
	tests := map[string]struct {
		conflicts []conflict.Conflict
		want      int
	}{
		"used by what the plan deletes too": {[]conflict.Conflict{inUse(string(subnetID))}, 0},
		"used by somebody else":             {[]conflict.Conflict{inUse(string(subnetID)), inUse("/net/nic")}, 1},
		"a call of this run":                {[]conflict.Conflict{own}, 0},
		"another session":                   {[]conflict.Conflict{own, blamed("alice", 1).Conflicts[0]}, 1},
		"the plan is out of date":           {[]conflict.Conflict{changed}, 1},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, nil)
			r.Plan(plan("simcloud_subnet"))
			r.session.prospects = func([]admission.Request) []client.Prospect {
				return []client.Prospect{{Decision: "reject", Report: &conflict.Report{
					Decision: conflict.Reject, Requester: conflict.Party{Session: "bob-1"}, Conflicts: tt.conflicts,
				}}}
			}
			f, err := r.Forecast(t.Context(), false)
			if err != nil {
				t.Fatal(err)
			}
			kept := 0
			for _, report := range f.Reports {
				kept += len(report.Conflicts)
			}
			if kept != tt.want {
				t.Errorf("%d conflicts are left, want %d", kept, tt.want)
			}
		})
	}
}

// TestForecastWhereNothingIsRefused: what would be refused is told apart, and
// stops nothing.
func TestForecastWhereNothingIsRefused(t *testing.T) {
	t.Parallel()
	for mode, want := range map[Mode][2]int{Enforce: {1, 0}, Wait: {0, 1}, Observe: {0, 1}, Off: {0, 0}} {
		r := newRig(t, func(c *Config) { c.Mode = func(graph.NodeID) Mode { return mode } })
		r.Plan(plan("simcloud_subnet"))
		r.session.prospects = func([]admission.Request) []client.Prospect {
			report := blamed("alice", 1)
			report.Decision = conflict.Reject
			return []client.Prospect{{Decision: "reject", Report: &report}}
		}
		f, err := r.Forecast(t.Context(), false)
		if err != nil {
			t.Fatal(err)
		}
		if got := [2]int{len(f.Reports), len(f.Passing)}; got != want || f.Stops() != (mode == Enforce) {
			t.Errorf("%s: %v refused and passing, want %v; stops: %v", mode, got, want, f.Stops())
		}
	}
}

// A count that the plan also gives back from is judged with the whole plan.
func TestForecastLeavesCapacityThatIsFreedToTheReservation(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		amount int64
		kept   int
	}{"takes": {4, 1}, "gives back": {-4, 0}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, func(c *Config) { c.Engine = fakeEngine{effects: takes(tt.amount)} })
			r.readable(func(_ int, id string) (intercept.Object, error) { return there(id), nil })
			r.Plan(plan("simcloud_subnet"))
			report := short20()
			r.session.prospects = func([]admission.Request) []client.Prospect {
				return []client.Prospect{{Decision: "reject", Report: &report}}
			}
			f, err := r.Forecast(t.Context(), false)
			if err != nil || len(f.Reports) != tt.kept {
				t.Errorf("forecast %+v, %v", f, err)
			}
		})
	}
}

// A forecast that refuses ends the run, so it is no more based on old knowledge
// than a refusal.
func TestForecastsAreBasedOnFreshFacts(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(c *Config) { c.Engine = fakeEngine{effects: takes(1)} })
	reader := r.readable(func(_ int, id string) (intercept.Object, error) {
		if id == string(netID) {
			return there(id), nil
		}
		return gone(), nil
	})
	r.session.found = map[graph.NodeID]coordinator.Found{
		"/net/n1": {Known: true, Node: graph.Node{Decl: graph.Decl{ID: "/net/n1", Kind: graph.Resource}}},
	}
	r.Plan(plan("simcloud_subnet"))
	asked := 0
	r.session.prospects = func([]admission.Request) []client.Prospect {
		if asked++; asked > 1 {
			return []client.Prospect{{Decision: "admit"}}
		}
		report := needed("theirs")
		report.Conflicts[0].Fact.Age = 31
		return []client.Prospect{{Decision: "reject", Report: &report}}
	}
	f, err := r.Forecast(t.Context(), true)
	if err != nil || len(f.Reports) != 0 || asked != 2 {
		t.Errorf("asked %d times: %+v, %v", asked, f, err)
	}
	if n := reader.reads(); n != 2 { // the count, and what referred
		t.Errorf("read %v", reader.asked)
	}
}

func TestForecastTellsWhatItCannotForesee(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(c *Config) { c.Engine = fakeEngine{err: errors.New("no realm")} })
	r.Plan(plan("simcloud_subnet"))
	f, err := r.Forecast(t.Context(), false)
	if err != nil {
		t.Fatal(err)
	}
	want := []views.Unforeseen{{Address: "simcloud_subnet.x", Reason: "no realm"}}
	if diff := cmp.Diff(want, f.Unforeseen); diff != "" || f.Quiet() || f.Changes != 1 {
		t.Errorf("forecast %+v (-want +got):\n%s", f, diff)
	}
}

func TestForecastRefusesAShortAnswer(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	r.Plan(plan("simcloud_subnet"))
	r.session.prospects = func([]admission.Request) []client.Prospect { return nil }
	if _, err := r.Forecast(t.Context(), false); err == nil {
		t.Error("an answer that lacks a change is accepted")
	}
}
