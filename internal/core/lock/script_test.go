// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package lock

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/tfweaver/tfweaver/internal/core/graph"
	"github.com/tfweaver/tfweaver/internal/core/mode"
)

// TestScripts runs the scenarios of testdata. "acquire OWNER" takes wants, one
// a line ("PATH MODE [relation] [rule]"), closes them and takes the plan or
// lists the conflicts; "print" dumps the table. The parent of a path is the
// path without its last part.
func TestScripts(t *testing.T) {
	t.Parallel()
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		t.Parallel()
		table := NewTable()
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			out := runCommand(t, table, d)
			verify(t, table)
			return out
		})
	})
}

func runCommand(t *testing.T, table *Table, d *datadriven.TestData) string {
	owner := Owner("")
	if len(d.CmdArgs) > 0 {
		owner = Owner(d.CmdArgs[0].Key)
	}
	switch d.Cmd {
	case "close":
		return printPlan(Close(wants(t, d.Input), parent))
	case "acquire":
		return acquire(table, owner, Close(wants(t, d.Input), parent))
	case "release":
		return fmt.Sprintf("held something: %t", table.Release(owner))
	case "print":
		return printTable(table)
	default:
		t.Fatalf("no command %q", d.Cmd)
		return ""
	}
}

func acquire(table *Table, owner Owner, plan Plan) string {
	err := table.Acquire(owner, plan)
	if err == nil {
		return "ok"
	}
	var b strings.Builder
	fmt.Fprintln(&b, err)
	for _, c := range table.Conflicts(owner, plan) {
		fmt.Fprintf(&b, "  %s: %s (%s) against %s (%s) of %s\n",
			c.Want.Node, c.Want.Mode, c.Want.Relation, c.Held.Mode, c.Held.Relation, c.Holder.Owner)
	}
	return b.String()
}

func wants(t *testing.T, input string) []Want {
	t.Helper()
	var list []Want
	for _, l := range strings.Split(input, "\n") {
		f := append(strings.Fields(l), string(Same), "")
		if len(f) < 4 {
			continue
		}
		m, err := mode.Parse(f[1])
		if err != nil {
			t.Fatal(err)
		}
		w := Want{Node: graph.NodeID(f[0]), Mode: m, Relation: Relation(f[2])}
		if len(f) > 5 {
			w.Rule = f[3]
		}
		list = append(list, w)
	}
	return list
}

func parent(id graph.NodeID) (graph.NodeID, bool) {
	i := strings.LastIndex(string(id), "/")
	if i < 0 {
		return "", false
	}
	return id[:i], true
}

func printPlan(p Plan) string {
	var b strings.Builder
	for _, w := range p {
		fmt.Fprintf(&b, "%-14s %-3s %s %s\n", w.Node, w.Mode, w.Relation, w.Rule)
	}
	return b.String()
}

func printTable(table *Table) string {
	var b strings.Builder
	for _, n := range table.Nodes() {
		fmt.Fprintf(&b, "%-14s", n)
		for _, h := range table.Holders(n) {
			fmt.Fprintf(&b, " %s:%s", h.Owner, h.Mode)
		}
		fmt.Fprintf(&b, " (%s)\n", table.Strongest(n))
	}
	if b.Len() == 0 {
		return "empty"
	}
	return b.String()
}

// verify checks after every command what the table promises.
func verify(t *testing.T, table *Table) {
	t.Helper()
	for _, n := range table.Nodes() {
		holders := table.Holders(n)
		if len(holders) == 0 {
			t.Errorf("%s is kept without a holder", n)
		}
		for i, a := range holders {
			for _, b := range holders[i+1:] {
				if !mode.Compatible(a.Mode, b.Mode) {
					t.Errorf("%s is held by %v and %v", n, a, b)
				}
			}
			plan, ok := table.Held(a.Owner)
			if !ok || plan.Mode(n) != a.Mode {
				t.Errorf("%s is held by %v outside its plan", n, a)
			}
		}
	}
	for _, o := range table.Owners() {
		plan, _ := table.Held(o)
		if err := plan.Validate(parent); err != nil {
			t.Errorf("%s holds a malformed plan: %v", o, err)
		}
	}
}
