// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package killing

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tfweaver/tfweaver/acceptance/lab"
	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/core/graph"
	"github.com/tfweaver/tfweaver/internal/simcloud/activity"
)

const prefix = "/subscriptions/s/resourceGroups/shared/providers/Microsoft.Network/virtualNetworks/"

func at(second int) time.Time { return time.Unix(int64(second), 0) }

func operation(actor, network, name string, from, to int) activity.Operation {
	return activity.Operation{
		Actor: actor, Method: "PUT", ObjectID: prefix + network + "/subnets/" + name,
		Start: at(from), End: at(to), Result: activity.Succeeded,
	}
}

func told(id admission.TxID, actor, network, name string, token uint64, from, to int) *call {
	c := &call{actor: actor, token: token, started: at(from), ended: at(to)}
	c.tx.ID, c.tx.Address = id, "simcloud_subnet."+name
	c.tx.Self = graph.NodeID("simcloud:host" + strings.ToLower(prefix+network+"/subnets/"+name))
	return c
}

// broken is what a judge finds.
func broken(judge func(*Result)) string {
	var r Result
	judge(&r)
	return strings.Join(r.Broken, "; ")
}

func TestDrawIsRepeatableAndHitsAll(t *testing.T) {
	t.Parallel()
	kinds, victims := make(map[Kind]int), make(map[string]int)
	for n := range 200 {
		r := Draw(7, n)
		if diff := cmp.Diff(r, Draw(7, n)); diff != "" {
			t.Fatalf("-once +again\n%s", diff)
		}
		if (r.Victim == "") != r.Kind.serves() || r.Delay > r.Moment.longest() {
			t.Errorf("%v", r)
		}
		kinds[r.Kind]++
		victims[r.Victim]++
	}
	if len(kinds) != len(Kinds()) || len(victims) != len(sessions())+1 {
		t.Errorf("drawn are %v of %v", kinds, victims)
	}
	if cmp.Equal(Draw(7, 0), Draw(8, 0)) {
		t.Error("another seed gives the same round")
	}
}

func TestCloudJudge(t *testing.T) {
	t.Parallel()
	one, two := operation("a", "left", "a1", 0, 5), operation("b", "left", "b1", 5, 9)
	for want, log := range map[string]activity.Log{
		"":                         {Operations: []activity.Operation{one, two, operation("c", "right", "c1", 1, 8)}},
		"were in flight together":  {Operations: []activity.Operation{one, operation("b", "LEFT", "b1", 4, 9)}},
		"refused PUT /x of a: Bus": {Refused: []activity.Event{{Method: "PUT", ObjectID: "/x", Actor: "a", ErrorCode: "Busy"}}},
	} {
		got := broken(func(r *Result) { judgeCloud(r, log) })
		if (want == "") != (got == "") || !strings.Contains(got, want) {
			t.Errorf("want %q, found %q", want, got)
		}
	}
}

func TestGrantJudge(t *testing.T) {
	t.Parallel()
	one := told("t1", "a", "left", "a1", 3, 0, 5)
	open := told("t2", "b", "left", "b1", 4, 2, 0)
	open.ended = time.Time{}
	for want, all := range map[string][]*call{
		"":                      {one, told("t2", "b", "left", "b1", 4, 5, 9), told("t3", "c", "right", "c1", 5, 1, 4)},
		"were granted together": {one, told("t2", "b", "left", "b1", 4, 4, 9)},
		"t2 (simcloud_subnet.b1) and t3 (simcloud_subnet.c1) were granted together": {open, told("t3", "c", "left", "c1", 9, 90, 99)},
		"have the same token": {one, told("t2", "b", "left", "b1", 3, 5, 9)},
	} {
		got := broken(func(r *Result) { judgeGrants(r, all) })
		if (want == "") != (got == "") || !strings.Contains(got, want) {
			t.Errorf("want %q, found %q", want, got)
		}
	}
}

func TestSentJudge(t *testing.T) {
	t.Parallel()
	log := activity.Log{Operations: []activity.Operation{
		{Actor: lab.Furniture, ObjectID: prefix + "left"}, operation("a", "left", "a1", 2, 5),
	}}
	twice := activity.Log{Operations: append(log.Operations[:2:2], operation("a", "left", "a1", 6, 7))}
	for _, c := range []struct {
		want string
		log  activity.Log
		call *call
	}{
		{"", log, told("t1", "a", "left", "a1", 1, 1, 5)},
		{"was never announced", log, told("t1", "a", "left", "a1", 1, 3, 5)},
		{"was never announced", log, told("t1", "b", "left", "a1", 1, 1, 5)},
		{"was never announced", log, told("t1", "a", "left", "a2", 1, 1, 5)},
		{"was never announced", twice, told("t1", "a", "left", "a1", 1, 1, 5)},
	} {
		got := broken(func(r *Result) { judgeSent(r, c.log, []*call{c.call}) })
		if (c.want == "") != (got == "") || !strings.Contains(got, c.want) {
			t.Errorf("want %q, found %q", c.want, got)
		}
	}
}

func TestResumedJudge(t *testing.T) {
	t.Parallel()
	limit := int(resumeLimit.Seconds())
	for _, c := range []struct {
		want   string
		victim string
		log    []activity.Operation
	}{
		{"", "anna", []activity.Operation{operation("bystander", "x", "y", 10+limit, 99)}},
		{"bystander went on", "anna", []activity.Operation{operation("bystander", "x", "y", 11+limit, 99)}},
		{"carl went on", "anna", []activity.Operation{operation("carl", right, "carl1", 11+limit, 99)}},
		// Those at the victim's network may have to wait for it.
		{"", "anna", []activity.Operation{operation("bert", left, "bert1", 11+limit, 99)}},
		{"", "carl", []activity.Operation{operation("carl", right, "carl1", 11+limit, 99)}},
		{"", "anna", []activity.Operation{operation("carl", right, "carl1", 9, 12+limit), operation("carl", right, "carl2", 12+limit, 99)}},
	} {
		p := &play{round: Round{Kind: Wrapper, Victim: c.victim}, killed: at(10)}
		p.judgeResumed(activity.Log{Operations: c.log}, nil)
		got := strings.Join(p.result.Broken, "; ")
		if (c.want == "") != (got == "") || !strings.Contains(got, c.want) {
			t.Errorf("want %q, found %q", c.want, got)
		}
	}
}

func TestUncertainAreCounted(t *testing.T) {
	t.Parallel()
	read := told("t1", "a", "left", "a9", 0, 0, 9)
	read.uncertain, read.read = true, true
	all := []*call{
		read,
		{uncertain: true, ended: at(1)},
		{uncertain: true, ended: at(1), byPerson: true},
		{uncertain: true, tx: told("t4", "a", "left", "a1", 0, 0, 0).tx},
		{uncertain: true, tx: told("t5", "c", "right", "c1", 0, 0, 0).tx},
		{},
	}
	p := &play{round: Round{Kind: Wrapper, Victim: "anna"}, killed: at(2)}
	p.countUncertain(activity.Log{Operations: []activity.Operation{operation("a", "left", "a9", 1, 5)}}, all)
	r := p.result
	if r.Uncertain != 5 || r.Read != 1 || r.Reported != 1 || r.Open != 2 || len(r.Broken) != 2 || r.SettledS != 4 {
		t.Errorf("counted %+v", r)
	}
}

func TestStateIDs(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for text, want := range map[string][]string{
		"":                   nil,
		`{"resources":[{}]}`: nil,
		`{"resources":[{"instances":[{"attributes":{"id":"/a"}},{"attributes":{"id":"/b"}}]}]}`: {"/a", "/b"},
	} {
		file := filepath.Join(dir, "state")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := stateIDs(file)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%v: -want +got\n%s", err, diff)
		}
	}
	if got, err := stateIDs(filepath.Join(dir, "none")); got != nil || err != nil {
		t.Errorf("of no file: %v, %v", got, err)
	}
}

func TestTally(t *testing.T) {
	t.Parallel()
	tally := TallyOf([]Result{
		{Kind: Daemon, Killed: true, InFlight: 1, Uncertain: 2, Read: 1, Open: 1},
		{Round: 1, Kind: Daemon, Killed: true, BystanderS: 3, Broken: []string{"all"}},
		{Round: 2},
	})
	if tally.Kills != 2 || tally.Missed != 1 || tally.Broken != 1 || tally.Hot != 1 || tally.Uncertain != 2 || tally.Kinds[Daemon].Rounds != 2 {
		t.Errorf("%+v", tally)
	}
	var b strings.Builder
	if err := tally.Write(&b); err != nil || !strings.Contains(b.String(), "at most 3.00 s") {
		t.Errorf("%q, %v", b.String(), err)
	}
}

func TestKeptJudge(t *testing.T) {
	t.Parallel()
	o := operation("a", "left", "a1", 0, 5)
	id := strings.ToLower(o.ObjectID)
	failed := o
	failed.Result = activity.Failed
	for _, c := range []struct {
		want    string
		log     []activity.Operation
		known   graph.Lifecycle
		inState bool
	}{
		{"", []activity.Operation{o}, graph.Operational, true},
		{"", []activity.Operation{o}, graph.Operational, false},
		{"", []activity.Operation{o}, graph.Uncertain, false},
		// Who sent it was told of a failure, and it is there all the same.
		{"", []activity.Operation{o}, graph.Failed, false},
		{`is "failed"`, []activity.Operation{o}, graph.Failed, true},
		{`is "absent"`, []activity.Operation{o}, graph.Absent, false},
		{`is ""`, []activity.Operation{o}, graph.Unknown, true},
		{"", []activity.Operation{failed}, graph.Absent, false},
		{"is operational in the graph, and the cloud has not made it", []activity.Operation{failed}, graph.Operational, false},
		{"is in a state, and the cloud has not made it", nil, graph.Absent, true},
	} {
		states := map[string]bool{}
		if c.inState {
			states[id] = true
		}
		got := broken(func(r *Result) {
			judgeKept(r, activity.Log{Operations: c.log}, map[string]graph.Lifecycle{id: c.known}, states)
		})
		if (c.want == "") != (got == "") || !strings.Contains(got, c.want) {
			t.Errorf("%q in the graph, in a state: %v: want %q, found %q", c.known, c.inState, c.want, got)
		}
	}
}
