// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package fleet

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tfweaver/tfweaver/acceptance/lab"
	"github.com/tfweaver/tfweaver/internal/simcloud/activity"
)

func made(actor string, result activity.Status) activity.Operation {
	return activity.Operation{Actor: actor, ObjectType: "Microsoft.Compute/virtualMachines", Result: result}
}

func TestMeasure(t *testing.T) {
	t.Parallel()
	log := activity.Log{
		Operations: []activity.Operation{
			{Actor: Web, ObjectType: "Microsoft.Resources/resourceGroups", Result: activity.Succeeded},
			made(Web, activity.Succeeded), made(Web, activity.Succeeded), made(Web, activity.Succeeded),
			made(Batch, activity.Succeeded), made(Batch, activity.Failed),
		},
		Refused: make([]activity.Event, 2),
	}
	want := Figure{Machines: map[string]int{Web: 3, Batch: 1}, Whole: 1, Half: 1, RefusedAtCloud: 2}
	if diff := cmp.Diff(want, Measure(log)); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

func TestFirstTold(t *testing.T) {
	t.Parallel()
	lines, err := lab.Lines(`{"type":"version"}
{"type":"weaver_wait","report":{"conflicts":[{"relation":"ancestor"},{"relation":"capacity","holder":{"actor":"web","objective":"shop"},"capacity":{"bucket":"cores","limit":20,"reserved":12,"asked":12}}]}}
{"type":"weaver_conflict","report":{"conflicts":[{"capacity":{"bucket":"cores","limit":20,"used":12,"asked":12}}]}}
`)
	if err != nil {
		t.Fatal(err)
	}
	want := &Told{Bucket: "cores", Limit: 20, Reserved: 12, Asked: 12, By: "web", Purpose: "shop"}
	if diff := cmp.Diff(want, FirstTold(lines)); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if got := FirstTold(lines[:1]); got != nil {
		t.Errorf("of nothing: %+v", got)
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	for want, spoil := range map[string]func(plain, coordinated *Figure){
		"":                       func(_, _ *Figure) {},
		"plain: ":                func(p, _ *Figure) { p.Half = 0 },
		"coordinated: ":          func(_, c *Figure) { c.Half = 1 },
		"the other nothing":      func(_, c *Figure) { c.Whole = 2 },
		"told was":               func(_, c *Figure) { c.Told = nil },
		"some and somebody has ": func(p, _ *Figure) { p.RefusedAtCloud = 0 },
	} {
		plain, coordinated := Figure{Half: 2, RefusedAtCloud: 3}, Figure{Whole: 1, Told: &Told{Limit: Limit, Asked: Wants}}
		spoil(&plain, &coordinated)
		err := Check(plain, coordinated)
		if (want == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, found %v", want, err)
		}
	}
}
