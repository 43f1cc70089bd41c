// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package interleaving

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tfweaver/tfweaver/acceptance/lab"
	"github.com/tfweaver/tfweaver/internal/simcloud/activity"
)

func TestDrawTakesTurns(t *testing.T) {
	t.Parallel()
	kinds, asks := make(map[string]int), 0
	for n := range 64 {
		r := Draw(5, n, true)
		control := Draw(5, n, false)
		control.Woven = true
		if diff := cmp.Diff(r, control); diff != "" || r.Delay > longestDelay || r.Answer > longestAnswer {
			t.Errorf("delay %v, answer %v; -woven +control\n%s", r.Delay, r.Answer, diff)
		}
		where := "file "
		if r.Remote {
			where = "server "
		}
		if n < 8 {
			kinds[where+string(r.Kind)]++
		}
		if r.Asks {
			asks++
		}
		if r.Asks != (r.Answer > 0) || r.Asks && !r.AfterPlan {
			t.Errorf("%v", r)
		}
	}
	if len(kinds) != 8 || asks != 16 {
		t.Errorf("in eight rounds %v; %d of 64 are asked", kinds, asks)
	}
}

func call(method, name string, end int, result activity.Status) activity.Operation {
	return activity.Operation{
		Method: method, ObjectID: "/n/Subnets/" + name, ObjectType: "Microsoft.Network/virtualNetworks/subnets",
		End: time.Unix(int64(end), 0), Result: result,
	}
}

func TestWhatIsThere(t *testing.T) {
	t.Parallel()
	group := call("PUT", "g", 1, activity.Succeeded)
	group.ObjectType = "Microsoft.Resources/subscriptions/resourceGroups"
	log := activity.Log{Operations: []activity.Operation{
		group, call("DELETE", "gone", 5, activity.Succeeded), call("PUT", "gone", 2, activity.Succeeded), call("PUT", "b", 2, activity.Succeeded),
		call("PUT", "a", 3, activity.Succeeded), call("DELETE", "a", 4, activity.Failed), call("PUT", "never", 3, activity.Failed),
	}}
	if diff := cmp.Diff([]string{"/n/subnets/a", "/n/subnets/b"}, there(log)); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	for at, want := range map[int64]bool{4: false, 6: true} {
		if got := destroyed(log, "/n/subnets/gone", lab.StateVersion{At: time.Unix(at, 0)}); got != want {
			t.Errorf("destroyed before %d: %v", at, got)
		}
	}
}

// put writes a version of the state as an actor, under a lock of its own.
func put(t *testing.T, store *lab.StateStore, actor string, serial int, names ...string) {
	t.Helper()
	var instances []string
	for _, name := range names {
		instances = append(instances, fmt.Sprintf(`{"attributes":{"id":"/n/Subnets/%s"}}`, name))
	}
	state := fmt.Sprintf(`{"serial":%d,"lineage":"l","resources":[{"mode":"managed","instances":[%s]}]}`, serial, strings.Join(instances, ","))
	for _, step := range []struct{ method, query, body string }{{"LOCK", "", `{"ID":"x"}`}, {"POST", "?ID=x", state}, {"UNLOCK", "", `{"ID":"x"}`}} {
		req, err := http.NewRequestWithContext(t.Context(), step.method, store.URL+"/"+stateName+step.query, strings.NewReader(step.body))
		if err != nil {
			t.Fatal(err)
		}
		req.SetBasicAuth(actor, "")
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		if _ = resp.Body.Close(); resp.StatusCode != http.StatusOK {
			t.Fatalf("%s: %d", step.method, resp.StatusCode)
		}
	}
}

// TestWhatAVersionMayDrop: what was destroyed before, and what was taken out on
// purpose.
func TestWhatAVersionMayDrop(t *testing.T) {
	t.Parallel()
	gone := activity.Log{Operations: []activity.Operation{call("DELETE", kept, 1, activity.Succeeded)}}
	for name, c := range map[string]struct {
		kind    Kind
		by      string
		log     activity.Log
		dropped bool
	}{
		"lost":                 {Apply, first, activity.Log{}, true},
		"destroyed":            {Destroy, second, gone, false},
		"taken out":            {Reimport, second, activity.Log{}, false},
		"lost by the other":    {Reimport, first, activity.Log{}, true},
		"lost by a plain one":  {Refresh, second, activity.Log{}, true},
		"destroyed by another": {Apply, first, gone, false},
	} {
		store, err := lab.StartStateStore(nil)
		if err != nil {
			t.Fatal(err)
		}
		put(t, store, second, 1, kept, extra)
		put(t, store, c.by, 2, extra)
		p := &play{round: Round{Kind: c.kind, Remote: true}, store: store, begun: &lab.Run{}, run: &lab.Run{}}
		if err := errors.Join(p.judgeVersions(c.log), store.Close()); err != nil || len(p.result.Broken) > 0 != c.dropped || p.result.Versions != 2 {
			t.Errorf("%s: %v, %+v", name, err, p.result)
		}
	}
}

func TestShown(t *testing.T) {
	t.Parallel()
	text := "Plan: 3 to add, 0 to change, 0 to destroy.\n\nPlanning: 1\nNo changes. Your infrastructure matches the configuration.\n  Plan: 9\n"
	if n := len(shown.FindAllString(text, -1)); n != 2 {
		t.Errorf("%d plans, want 2", n)
	}
}

func TestTally(t *testing.T) {
	t.Parallel()
	results := []Result{
		{Round: 0, Plans: 2, Remote: true, Between: true, Versions: 4, RunS: 2},
		{Round: 1, Plans: 1, RunS: 3, Asks: true, PlainLocked: true},
		{Round: 2, Plans: 1, RunS: 9, Exit: 1, Stale: true, Broken: []string{"all"}},
	}
	got := TallyOf(results)
	want := Tally{
		Rounds: 3, Stale: 1, Failed: 1, Again: 1, Between: 1, Remote: 1, Asked: 1, PlainLocked: 1, Versions: 4,
		RunP50S: 3, RunMaxS: 9, Broken: map[int][]string{2: {"all"}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if err := got.Telling(); err != nil {
		t.Error(err)
	}
	if err := TallyOf(results[1:]).Telling(); err == nil {
		t.Error("two runs that planned once show enough")
	}
	var text strings.Builder
	if err := Write(&text, got, Tally{Rounds: 7}); err != nil || !strings.Contains(text.String(), "7") {
		t.Errorf("%q, %v", text.String(), err)
	}
	if told := results[2].Told(); !strings.Contains(told, "stale") && !strings.Contains(told, "BROKEN") {
		t.Errorf("told is %q", told)
	}
}
