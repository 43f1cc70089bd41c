// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package main

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tfweaver/tfweaver/acceptance/lineup"
	"github.com/tfweaver/tfweaver/internal/scaling"
)

// TestNothingMeetsABar: a figure that was not measured, or whose bar is not known,
// never counts as met, whichever side the bar is on.
func TestNothingMeetsABar(t *testing.T) {
	t.Parallel()
	var b bench
	for _, least := range []bool{false, true} {
		b.judge("p", "no figure", reading{}, is(1), least, "%.0f")
		b.judge("p", "no bar", is(1), reading{}, least, "%.0f")
		b.judge("p", "nothing by nothing", is(math.NaN()), is(1), least, "%.0f")
		b.judge("p", "something by nothing", is(math.Inf(1)), is(1), least, "%.0f")
		b.judge("p", "a time of 0", positive(0), is(1), least, "%.0f")
	}
	b.take("q", barred{Bars: []Figure{{Figure: "said", Met: true}, {Figure: "known", Measured: "0.0 us", Met: true, Missing: true}}})
	b.take("r", barred{})
	if len(b.figures) != 13 {
		t.Errorf("%d figures", len(b.figures))
	}
	for _, f := range b.figures {
		if f.Met || f.verdict() != notMeasured {
			t.Errorf("%+v: %s", f, f.verdict())
		}
	}
}

// TestPartsWithoutFigures: what a part did not measure is told in the summary, and
// is not met.
func TestPartsWithoutFigures(t *testing.T) {
	t.Parallel()
	for name, judge := range map[string]func(*bench){
		"scaling": func(b *bench) { b.judgeScaling([]scaling.Result{{Strategy: scaling.Uncoordinated, Ratio: 1}}) },
		"socket":  func(b *bench) { b.judgeSocket([]socketRow{{Clients: 20, Ratio: is(0.1)}}) },
		"durable": func(b *bench) {
			b.judgeDurable(durability{BarClients: 64, Rows: []durableRow{{Journal: "mem", Clients: 64}}})
		},
		"contention": func(b *bench) { Contention{}.judge(b) },
	} {
		var b bench
		judge(&b)
		if len(b.figures) == 0 {
			t.Errorf("%s: no figures", name)
		}
		for _, f := range b.figures {
			if f.Met || f.verdict() != notMeasured {
				t.Errorf("%s: %+v", name, f)
			}
		}
	}
}

// TestPartsWithFigures: figures are compared with the bars that came with them.
func TestPartsWithFigures(t *testing.T) {
	t.Parallel()
	const durable = `{"bar_clients": 64, "bar_process_to_raw": 0.4, "bar_grpc_to_raw": 0.1,
		"rows": [{"journal": "bbolt", "clients": 8}, {"journal": "bbolt", "clients": 64, "process_to_raw": 0.41, "grpc_to_raw": null}]}`
	var d durability
	if err := json.Unmarshal([]byte(durable), &d); err != nil {
		t.Fatal(err)
	}
	var c Contention
	c.LineUp.Rounds, c.OneState.Rounds, c.OneState.Lost = 1, 1, 2
	c.OneState.Refused = map[lineup.Way]int{lineup.Woven: 1}
	var b bench
	b.judgeDurable(d)
	c.judge(&b)
	want := []Figure{
		{"durable", "bbolt, 64 callers in process, to raw appends", ">= 0.40", "0.41", true, false},
		{"durable", "bbolt, 64 clients through gRPC, to raw appends", ">= 0.10", notMeasured, false, true},
		{"contention", "calls refused by the cloud while sessions line up", "<= 0", "0", true, false},
		{"contention", "applies on one state refused or lost", "<= 0", "3", false, false},
	}
	if diff := cmp.Diff(want, b.figures); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
