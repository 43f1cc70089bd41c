// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package validation

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tfweaver/tfweaver/internal/simcloud/activity"
	"github.com/tfweaver/tfweaver/internal/simcloud/arm"
)

// done is an operation from one second to another.
func done(id arm.ID, from, to float64) activity.Operation {
	zero := time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)
	at := func(s float64) time.Time { return zero.Add(time.Duration(s * float64(time.Second))) }
	return activity.Operation{ObjectID: id.String(), ObjectType: id.Kind.Type(), Start: at(from), End: at(to), Result: activity.Succeeded}
}

func group(name string) arm.ID { return arm.GroupID(arm.DefaultSubscription, name) }

func network(name string) arm.ID {
	return arm.TopID(arm.VirtualNetwork, arm.DefaultSubscription, name, name)
}

func subnet(in, name string) arm.ID {
	return arm.ChildID(arm.Subnet, arm.DefaultSubscription, in, in, name)
}

// paper is the trace of the paper as a perfect coordinator would run it.
func paper() activity.Log {
	return activity.Log{Operations: []activity.Operation{
		done(group("shared"), 0, 5.83), done(group("other"), 0, 2.2),
		done(network("other"), 2.2, 7.48), done(network("shared"), 5.83, 11.11),
		done(subnet("Shared", "a"), 11.11, 18.33), done(subnet("shared", "b"), 18.33, 25.55),
	}}
}

func TestFiguresOfThePaper(t *testing.T) {
	t.Parallel()
	want := Figure{Name: Coordinated, MakespanS: 25.55, CriticalPathS: 25.55, OK: 6, Total: 6}
	if diff := cmp.Diff(want, Measure(Coordinated, paper())); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

func TestRefusedCallCountsInTotalOnly(t *testing.T) {
	t.Parallel()
	log := paper()
	log.Operations = log.Operations[:5]
	log.Refused = []activity.Event{
		{ObjectID: subnet("shared", "b").String(), Status: activity.Refused},
		{ObjectID: subnet("SHARED", "B").String(), Status: activity.Refused},
	}
	want := Figure{Name: Uncoordinated, MakespanS: 18.33, CriticalPathS: 18.33, OK: 5, Total: 6, RefusedAtCloud: 2}
	if diff := cmp.Diff(want, Measure(Uncoordinated, log)); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

func TestIndependentBranchMayBeTheCriticalPath(t *testing.T) {
	t.Parallel()
	log := paper()
	log.Operations = append(log.Operations, done(network("other2"), 2, 50))
	log.Operations[6].ObjectID = arm.TopID(arm.VirtualNetwork, arm.DefaultSubscription, "other", "slow").String()
	if got, want := CriticalPath(log), 50200*time.Millisecond; got != want {
		t.Errorf("critical path %v, want %v", got, want)
	}
}

func TestShape(t *testing.T) {
	t.Parallel()
	good := func() Result {
		return Result{Policies: []Figure{
			{Name: Serial, OK: 6, Total: 6, MakespanS: 33},
			{Name: Uncoordinated, OK: 5, Total: 6, RefusedAtCloud: 1, MakespanS: 18},
			{Name: Coordinated, OK: 6, Total: 6, MakespanS: 25},
		}}
	}
	if err := CheckShape(good()); err != nil {
		t.Errorf("the paper's own shape: %v", err)
	}
	for name, spoil := range map[string]func(*Result){
		"serial":                      func(r *Result) { r.Policies[0].OK = 5 },
		"uncoordinated":               func(r *Result) { r.Policies[1].OK = 6 },
		"coordinated: expected":       func(r *Result) { r.Policies[2].RefusedAtCloud = 1 },
		"less time than serial":       func(r *Result) { r.Policies[2].MakespanS = 34 },
		"none is refused; found 0 of": func(r *Result) { r.Policies = r.Policies[:2] },
	} {
		r := good()
		spoil(&r)
		if err := CheckShape(r); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("spoiled %s: %v", name, err)
		}
	}
}
