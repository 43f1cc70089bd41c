// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package conflict

import (
	"strings"
	"testing"

	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/core/graph"
	"github.com/tfweaver/tfweaver/internal/core/lock"
	"github.com/tfweaver/tfweaver/internal/core/mode"
)

// enter asks for the state of the test, for a session.
func (s *story) enter(session admission.SessionID, id admission.TxID) {
	s.t.Helper()
	node := StateNode("local:desk:/net")
	s.do(admission.Submit{Stamp: s.at(), ID: id, Request: admission.Request{
		Session: session, Address: "The state of infra/net (workspace default)", Type: StateType, Action: admission.Read, Self: node,
		Nodes: []graph.Decl{{ID: States, Kind: graph.Realm}, {ID: node, Parent: States, Kind: graph.Resource, Type: StateType}},
		Locks: lock.Close([]lock.Want{{Node: node, Mode: mode.X, Relation: lock.Same}}, func(id graph.NodeID) (graph.NodeID, bool) { return States, id == node }),
	}})
}

func TestReportsOfAState(t *testing.T) {
	t.Parallel()
	s := tell(t, admission.Queue)
	s.enter("net-7", "t1")
	s.do(admission.Renew{Stamp: s.at(), Session: "net-7", Phase: "awaiting approval"})
	s.enter("web-3", "t2")
	s.pass(0)
	says := func(id admission.TxID, want ...string) {
		t.Helper()
		text := strings.ReplaceAll(Text(Build(s.State, id, "web-3")), "\n", " ")
		for _, w := range want {
			if !strings.Contains(text, w) {
				t.Errorf("%s lacks %q: %s", id, w, text)
			}
		}
	}
	says("t1", "The state of infra/net (workspace default) is being worked on by alice")
	says("t2", "The state of infra/net (workspace default) is being worked on by alice (session net-7, intent 'add app subnet'",
		"who is awaiting approval", "Queue place 1", "Ctrl-C to leave")
	s.do(admission.Withdraw{Stamp: s.at(), Tx: "t1", Cause: "not sent"})
	if tx, _ := s.Tx("t2"); tx.Status != admission.Admitted {
		t.Errorf("bob is %s when alice has left", tx.Status)
	}
	says("t1", "was given up by alice")
	says("t2", "is being worked on by bob")
}

// TestDoingWhat: what a holder is at is told where it has said so, and nothing
// hidden is.
func TestDoingWhat(t *testing.T) {
	t.Parallel()
	for want, h := range map[string]Holder{
		"": {}, ", who is planning": {Phase: "planning"},
	} {
		if got := doingWhat(&h); got != want {
			t.Errorf("%+v: %q", h, got)
		}
	}
	if got := doingWhat(&Holder{Phase: "planning", Redacted: true}); got != "" {
		t.Errorf("hidden: %q", got)
	}
}

func TestStateIsFreeWhenItsSessionEnds(t *testing.T) {
	t.Parallel()
	s := tell(t, admission.Queue)
	s.enter("net-7", "t1")
	s.enter("web-3", "t2")
	s.do(admission.Deceased{Stamp: s.at(), Session: "net-7"})
	if tx, _ := s.Tx("t2"); tx.Status != admission.Admitted {
		t.Errorf("bob is %s when alice is dead", tx.Status)
	}
}

func TestStateNodes(t *testing.T) {
	t.Parallel()
	if a, b := StateNode("local:h:/~a"), StateNode("local:h:/%7Ea"); a == b || strings.Contains(string(a), "~") {
		t.Errorf("%s and %s", a, b)
	}
	for id, want := range map[graph.NodeID]bool{States: true, StateNode("x"): true, "terraform-states/x": false, "sub/rg": false} {
		if IsState(id) != want {
			t.Errorf("%s: %v", id, !want)
		}
	}
}
