// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package gatekeeper

import (
	"strings"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/tfweaver/tfweaver/internal/coordinator"
	"github.com/tfweaver/tfweaver/internal/coordinator/client"
	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/core/conflict"
	"github.com/tfweaver/tfweaver/internal/core/graph"
	"github.com/tfweaver/tfweaver/wrapper/intercept"
	"github.com/tfweaver/tfweaver/wrapper/lowering"
)

// living is an object that the coordinator takes for living, and that a state has
// made.
func living(owner string) coordinator.Found {
	return coordinator.Found{Known: true, Node: graph.Node{
		Decl:      graph.Decl{ID: subnetID, Parent: netID, Kind: graph.Resource, Type: "simcloud_subnet"},
		Lifecycle: graph.Operational, Incarnation: 1, Owner: owner,
		History: []graph.Change{{Session: "alice-7", Tx: "t5", Action: "create", Result: "operational"}},
	}}
}

func TestWhatIsToBeCreatedIsLookedAtBefore(t *testing.T) {
	t.Parallel()
	create := planned(admission.Create, "simcloud_subnet.b", "")
	remove := planned(admission.Delete, "simcloud_subnet.b", "")
	for name, tt := range map[string]struct {
		calls       []lowering.PlannedCall
		incarnation uint64
		owner       string
		found       intercept.Object
		reads       int
		told        bool
	}{
		"this state made it":     {[]lowering.PlannedCall{create}, 1, "own", there(string(subnetID)), 1, true},
		"another one did":        {[]lowering.PlannedCall{create}, 1, "other", there(string(subnetID)), 1, false},
		"nobody has heard of it": {[]lowering.PlannedCall{create}, 0, "own", there(string(subnetID)), 0, false},
		"it is replaced":         {[]lowering.PlannedCall{remove, create}, 1, "own", there(string(subnetID)), 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, func(c *Config) { c.State, c.Import = "own", "terraform import" })
			reader := r.readable(func(int, string) (intercept.Object, error) { return tt.found, nil })
			r.session.found = map[graph.NodeID]coordinator.Found{subnetID: living(tt.owner)}
			r.session.explain = map[admission.TxID]conflict.Report{"t5": {Requester: conflict.Party{Actor: "alice", Killed: true}}}
			r.session.prospects = func(q []admission.Request) []client.Prospect {
				list := make([]client.Prospect, len(q))
				for i := range list {
					list[i].Incarnation = tt.incarnation
				}
				return list
			}
			r.Plan(changes{calls: tt.calls})
			for range 2 { // it is told once
				if _, err := r.Forecast(t.Context(), false); err != nil {
					t.Fatal(err)
				}
			}
			if n := reader.reads(); n != 2*tt.reads {
				t.Errorf("%d reads", n)
			}
			var said []string
			for _, p := range r.view.problems {
				said = append(said, p.Detail)
			}
			text := strings.Join(said, "\n")
			if told := strings.Count(text, "alice's run (killed)"); told > 1 || told == 1 != tt.told {
				t.Errorf("told %q", text)
			}
			if tt.told && !strings.Contains(text, "terraform import simcloud_subnet.b "+string(subnetID)) {
				t.Errorf("told %q", text)
			}
		})
	}
}

func TestWhatTheCLIHasNotHeardIsKept(t *testing.T) {
	t.Parallel()
	made := intercept.Outcome{Result: intercept.Succeeded, NewState: object(string(subnetID))}
	hungUp := made
	hungUp.HungUp = true
	for name, tt := range map[string]struct {
		given intercept.Outcome
		// live and cut count what is told where the CLI lives and where it was killed.
		live, cut, unsent int
	}{
		"answered":           {made, 0, 1, 0},
		"nobody to answer":   {hungUp, 1, 1, 0},
		"crashed":            {intercept.Outcome{Result: intercept.Unknown, SenderDead: true}, 1, 1, 0},
		"failed, and there":  {failure(), 1, 1, 0},
		"failed, tainted":    {intercept.Outcome{Result: intercept.Failed, NewState: object(string(subnetID))}, 0, 0, 0},
		"crashed before":     {intercept.Outcome{Result: intercept.NotSent, SenderDead: true}, 0, 0, 1},
		"given up before":    {intercept.Outcome{Result: intercept.NotSent}, 0, 0, 0},
		"failed, and no one": {intercept.Outcome{Result: intercept.Failed, NewState: cty.NullVal(object("").Type()), Diagnostics: []intercept.Diagnostic{{Error: true, Summary: "context canceled"}}}, 1, 1, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, func(c *Config) { c.Import = "terraform import" })
			r.readable(func(_ int, id string) (intercept.Object, error) { return there(id), nil })
			permit, _ := admitted(t, r, intercept.Create)
			if tt.given.Result != intercept.NotSent {
				if err := permit.Start(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			permit.Done(t.Context(), tt.given)
			r.Await(t.Context())
			if live, cut, unsent := r.Unanswered(false), r.Unanswered(true), r.Summary().NotSent; len(live) != tt.live || len(cut) != tt.cut || len(unsent) != tt.unsent {
				t.Errorf("told %+v, after a kill %+v, not sent %v", live, cut, unsent)
			}
			for _, u := range r.Unanswered(true) {
				if !u.Exists || u.Import != "terraform import simcloud_subnet.b "+string(subnetID) {
					t.Errorf("told %+v", u)
				}
			}
		})
	}
}
