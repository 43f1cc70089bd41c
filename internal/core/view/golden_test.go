// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package view

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/core/conflict"
	"github.com/tfweaver/tfweaver/internal/core/graph"
	"github.com/tfweaver/tfweaver/internal/core/mode"
)

var update = flag.Bool("update", false, "write the golden files anew")

// golden compares a text with what is kept.
func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); d != "" {
		t.Error(d)
	}
}

// TestThreeSessions is the trace of the paper's section 5, in the middle: A has
// made a group and a network, A and B each add a subnet to the network, which A
// shares with B, and C works on a group of its own.
func TestThreeSessions(t *testing.T) {
	t.Parallel()
	const net = graph.NodeID("sub/rg-a/vnet")
	policy := Policy{
		Default: Confined,
		Shares:  []Share{{Node: net, With: []Subject{StateSubject("state-b")}, Mode: Use, Parents: NoParents}},
	}
	w := &world{t: t, state: admission.New(), now: 1e9}
	for _, id := range []string{"a", "b", "c"} {
		w.open(id, admission.Queue)
		w.watch = append(w.watch, NewLens(policy, session(id)))
	}
	create := func(tx admission.TxID, by string, o op) {
		t.Helper()
		w.now += 1e9
		if err := w.submit(tx, o.request(by)); err != nil {
			t.Fatal(err)
		}
	}
	done := func(tx admission.TxID) {
		w.start(tx)
		w.complete(tx, admission.Succeeded, true)
	}
	slot := want(graph.FacetOf(net, "slot"), mode.X, "in_flight")
	create("a1", "a", change(admission.Create, "sub/rg-a"))
	done("a1")
	create("a2", "a", change(admission.Create, net))
	done("a2")
	create("c1", "c", change(admission.Create, "sub/rg-c"))
	done("c1")
	create("a3", "a", change(admission.Create, net+"/subnet-a", slot))
	w.start("a3")
	create("b1", "b", change(admission.Create, net+"/subnet-b", slot))
	create("c2", "c", change(admission.Create, "sub/rg-c/vnet"))

	var b strings.Builder
	locals := map[string]*Locals{}
	for i, id := range []string{"a", "b", "c"} {
		locals[id] = &Locals{}
		b.WriteString("session " + id + " sees\n" + toJSON(t, locals[id].View(w.watch[i], w.state)) + "\n")
	}
	report := locals["b"].Report(w.watch[1], w.state, conflict.Build(w.state, "b1", "b"))
	b.WriteString("session b is told\n" + toJSON(t, report) + "\n" + conflict.Text(report) + "\n")
	golden(t, "three_sessions.txt", b.String())

	if a, _ := locals["a"].Local(net); a == "" {
		t.Error("a does not see its network")
	} else if shared, _ := locals["b"].Local(net); shared == "" {
		t.Error("b does not see the network that is shared with it")
	}
	if _, ok := locals["c"].Local(net); ok {
		t.Error("c sees the network")
	}
}

// TestTwoAgents is the example of the paper's section 3.1: A destroys a machine
// that B replaces. Where sessions are named to each other, the first refusal
// tells the other's purpose; where not, it tells that there is one.
func TestTwoAgents(t *testing.T) {
	t.Parallel()
	for _, named := range []bool{true, false} {
		policy := Policy{Default: Confined, Shares: []Share{{Node: "sub/rg/vm", With: []Subject{Everyone}, Mode: Change}}}
		if named {
			policy.Shown = []Disclosure{{Sessions: []Subject{Everyone}, To: []Subject{Everyone}}}
		}
		w := &world{t: t, state: admission.New(), local: &Locals{}, lens: NewLens(policy, session("a"))}
		w.open("a", admission.Reject)
		w.open("b", admission.Reject)
		w.observe("b", true, "sub/rg", "sub/rg/vm")
		replace := replacing("b", "sub/rg/vm", "cores", false)
		_ = w.submit("plan", replace)
		q := change(admission.Delete, "sub/rg/vm").request("b")
		q.Guards, q.Plan, q.Call, q.Effects = nil, "plan", "delete", replace.Calls[1].Effects
		_ = w.submit("b1", q)
		_ = w.submit("a1", change(admission.Delete, "sub/rg/vm").request("a"))
		r := w.local.Report(w.lens, w.state, conflict.Build(w.state, "a1", "a"))
		if r.Decision != conflict.Reject || len(r.Conflicts) == 0 {
			t.Fatalf("%+v", r)
		}
		h := r.Conflicts[0].Holder
		told := strings.Contains(toJSON(t, r)+conflict.Text(r), "objective of b")
		if told != named || h.Redacted == named {
			t.Errorf("named: %t, and told: %+v", named, h)
		}
		v := w.local.View(w.lens, w.state)
		by := map[bool]string{true: "b", false: Alias}[named]
		if len(v.Locks) == 0 || v.Locks[0].By != by {
			t.Errorf("named: %t, and locks: %+v", named, v.Locks)
		}
	}
}
