// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package experiment

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tfweaver/tfweaver/internal/simcloud/activity"
)

func call(actor, method, name, life string, creates bool) activity.Operation {
	return activity.Operation{
		Actor: actor, Method: method, UID: life, Creates: creates, Result: activity.Succeeded,
		ObjectType: "Microsoft.Compute/virtualMachines", ObjectID: "/g/virtualMachines/" + name,
	}
}

// made is the log before the two collide.
func made(more ...activity.Operation) activity.Log {
	return activity.Log{Operations: append([]activity.Operation{call(owner, "PUT", oldName, "1", true)}, more...)}
}

func TestDrawTakesTurns(t *testing.T) {
	t.Parallel()
	kinds, first := make(map[[2]bool]int), 0
	for n := range 200 {
		r := Draw(5, n, true)
		plain := Draw(5, n, false)
		plain.Coordinated = true
		if diff := cmp.Diff(r, plain); diff != "" || r.Lead.Abs() > longestLead && r.Lead.Abs() != apart {
			t.Errorf("lead %v; -coordinated +plain\n%s", r.Lead, diff)
		}
		kinds[[2]bool{r.CreateFirst, r.Saved}]++
		if r.Lead > 0 {
			first++
		}
	}
	if len(kinds) != 4 || first < 60 || first > 140 {
		t.Errorf("kinds %v, the replacer leads in %d of 200", kinds, first)
	}
}

func TestLogTellsWhoDidAllAndWhatWentAstray(t *testing.T) {
	t.Parallel()
	gone := activity.Event{Actor: Destroyer, Method: "DELETE"}
	for name, c := range map[string]struct {
		log         activity.Log
		createFirst bool
		want        Result
	}{
		"replaced": {
			log:  made(call(Replacer, "DELETE", oldName, "1", false), call(Replacer, "PUT", oldName, "2", true)),
			want: Result{First: Replacer, Whole: []string{Replacer}},
		},
		"replaced by another one": {
			log:         made(call(Replacer, "PUT", newName, "2", true), call(Replacer, "DELETE", oldName, "1", false)),
			createFirst: true, want: Result{First: Replacer, Whole: []string{Replacer}},
		},
		"destroyed": {
			log: made(call(Destroyer, "DELETE", oldName, "1", false)), want: Result{First: Destroyer, Whole: []string{Destroyer}},
		},
		"half": {
			log: made(call(Replacer, "DELETE", oldName, "1", false)), want: Result{First: Replacer},
		},
		"the new one destroyed": {
			log: made(call(Replacer, "DELETE", oldName, "1", false), call(Replacer, "PUT", oldName, "2", true),
				call(Destroyer, "DELETE", oldName, "2", false)),
			want: Result{First: Replacer, Whole: []string{Replacer}, Stray: 1},
		},
		"destroyed and made again": {
			log:  activity.Log{Operations: made(call(Destroyer, "DELETE", oldName, "1", false), call(Replacer, "PUT", oldName, "2", true)).Operations, NoOps: []activity.Event{{Actor: Replacer}}},
			want: Result{First: Destroyer, Whole: []string{Destroyer}, Stray: 1},
		},
		"destroyed twice": {
			log:  activity.Log{Operations: made(call(Replacer, "DELETE", oldName, "1", false), call(Replacer, "PUT", oldName, "2", true)).Operations, NoOps: []activity.Event{gone}},
			want: Result{First: Replacer, Whole: []string{Replacer}, Stray: 1},
		},
	} {
		var got Result
		got.readLog(c.log, c.createFirst)
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: -want +got\n%s", name, diff)
		}
	}
}

func TestDemands(t *testing.T) {
	t.Parallel()
	good := func() Result {
		return Result{Exits: map[string]int{Replacer: 0, Destroyer: 1}, Whole: []string{Replacer}, Replan: true, Attributed: true}
	}
	for want, spoil := range map[string]func(*Result, *activity.Log){
		"":                              func(*Result, *activity.Log) {},
		"both ended with exit code 0":   func(r *Result, _ *activity.Log) { r.Lost = true },
		"that nobody had planned for":   func(r *Result, _ *activity.Log) { r.Stray = 1 },
		"one of the two must do all":    func(r *Result, _ *activity.Log) { r.Whole = nil },
		"exit codes map[destroyer:1 re": func(r *Result, _ *activity.Log) { r.Exits[Replacer] = 1 },
		"not told to plan again":        func(r *Result, _ *activity.Log) { r.Replan = false },
		"does not name the purpose":     func(r *Result, _ *activity.Log) { r.Attributed = false },
		"the cloud refused":             func(_ *Result, l *activity.Log) { l.Refused = make([]activity.Event, 1) },
	} {
		r, log := good(), activity.Log{}
		spoil(&r, &log)
		r.demand(log)
		got := strings.Join(r.Broken, "; ")
		if (want == "") != (got == "") || !strings.Contains(got, want) {
			t.Errorf("want %q, found %q", want, got)
		}
	}
}

func TestFirstTold(t *testing.T) {
	t.Parallel()
	text := "x: Refreshing...\n" +
		"\u2577\n\u2502 Note: 1 change of the plan would wait for other\n\u2502 sessions: intent 'one'\n\u2575\n" +
		"\u2577\n\u2502 Error: refused, intent 'two'\n\u2575\n"
	if got := firstTold(text); !strings.Contains(got, "'one'") || strings.Contains(got, "'two'") {
		t.Errorf("first told is %q", got)
	}
	if got := firstTold("Coordinated with 1 other session.\n"); got != "" {
		t.Errorf("of nothing: %q", got)
	}
}

func TestTally(t *testing.T) {
	t.Parallel()
	var results []Result
	for n := range 10 {
		r := Result{Round: n, First: Replacer, Overlap: n < 5, Whole: []string{Replacer}, Attributed: true, Replan: true}
		if n < 2 {
			r.First = Destroyer
		}
		results = append(results, r)
	}
	if err := TallyOf(results).Telling(); err != nil {
		t.Error(err)
	}
	results[0].First, results[1].Lost, results[2].Broken = Replacer, true, []string{"all"}
	tally := TallyOf(results)
	if err := tally.Telling(); err == nil {
		t.Error("one order in a tenth of the rounds is enough")
	}
	if tally.Rounds != 10 || tally.Lost != 1 || len(tally.Broken) != 1 || tally.Attributed != 10 || tally.Overlap != 5 {
		t.Errorf("%+v", tally)
	}
	var b strings.Builder
	if err := Write(&b, tally, Tally{Rounds: 7}); err != nil || !strings.Contains(b.String(), "7") {
		t.Errorf("%q, %v", b.String(), err)
	}
	if told := (Result{Seed: 1, Lost: true, LeadS: time.Second.Seconds()}).Told(); !strings.Contains(told, "a purpose is lost") {
		t.Errorf("told is %q", told)
	}
}
