// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

//go:build !windows

package command

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/tfweaver/tfweaver/internal/coordinator"
	"github.com/tfweaver/tfweaver/internal/coordinator/client"
	"github.com/tfweaver/tfweaver/internal/core/admission"
)

// TestReportOfAnObservingRun: a change that would have waited, went on and met
// an error of the provider is told with whom it would have waited for, also
// when it is over. That is what the mode is for.
func TestReportOfAnObservingRun(t *testing.T) {
	t.Parallel()
	r := complete(t)
	request := r.holdRequest(t)
	request.Advisory, request.Key, request.Address = true, 7, "fixture_thing.mine"
	conn, err := client.Dial(t.Context(), r.Env.Get("TFWEAVER_COORDINATOR"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	session, err := conn.Open(t.Context(), client.SessionConfig{Actor: "bob", Policy: admission.Queue})
	if err != nil {
		t.Fatal(err)
	}
	grant, err := session.Submit(t.Context(), request, "", nil)
	if err != nil || grant.Passed() == nil {
		t.Fatalf("not passed: %v", err)
	}
	if err := grant.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := grant.Complete(t.Context(), client.Outcome{Result: admission.Errored, Exists: true}); err != nil {
		t.Fatal(err)
	}
	if _, err := session.Close(t.Context()); err != nil {
		t.Fatal(err)
	}

	r.Args = []string{"report"}
	r.run(t, 0)
	for _, text := range []string{"1 would have been delayed", "1 of these ended with an error", "would wait (observe)", "update fixture_thing.mine", "bob", `alice ("repair")`} {
		if !strings.Contains(r.stdout.String(), text) {
			t.Errorf("the report lacks %q:\n%s", text, r.stdout)
		}
	}
	r.stdout.Reset()
	r.Args = []string{"report", "-json"}
	r.run(t, 0)
	var report coordinator.Report
	if err := json.Unmarshal(r.stdout.Bytes(), &report); err != nil || report.WouldWait != 1 || report.Errors != 1 || len(report.Items) != 1 || len(report.Items[0].Reasons) == 0 {
		t.Errorf("as JSON: %s, %v", r.stdout, err)
	}
}

// TestResolveOfWhatIsSettled says who has settled it, and that nothing is left
// to do; of what nobody knows, who was asked and where else to look.
func TestResolveOfWhatIsSettled(t *testing.T) {
	t.Parallel()
	r := complete(t)
	session, request := r.holdBy(t)
	request.Key, request.Address = 9, "fixture_thing.lost"
	observed := request
	observed.Advisory = true // it goes on beside the one that holds the object
	grant, err := session.Submit(t.Context(), observed, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := grant.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	id := string(grant.Tx())
	for _, step := range []struct {
		args []string
		code int
		says []string
	}{
		{[]string{"resolve", id, "-reason=looked", "-exists"}, ExitError, []string{"not in question", "Its own run will tell"}},
		{nil, 0, nil},
		{[]string{"resolve", id, "-reason=looked", "-exists"}, 0, []string{"is settled: the object is there"}},
		{[]string{"resolve", id, "-reason=again", "-gone"}, ExitError, []string{"was settled", "'looked'", "There is nothing to do"}},
		{[]string{"resolve", "t999", "-reason=x", "-gone"}, ExitError, []string{"no such transaction", r.Env.Get("TFWEAVER_COORDINATOR"), "TFWEAVER_COORDINATOR names", "tfweaver report"}},
		{[]string{"why", "t999"}, ExitError, []string{"no such transaction", "tfweaver status", "-weaver-coordinator=ADDR"}},
	} {
		if step.args == nil {
			if err := grant.Complete(t.Context(), client.Outcome{Result: admission.Lost}); err != nil {
				t.Fatal(err)
			}
			continue
		}
		r.stdout.Reset()
		r.stderr.Reset()
		r.Args = step.args
		r.run(t, step.code)
		told := strings.Join(strings.Fields(strings.ReplaceAll(r.stdout.String()+r.stderr.String(), "│", "")), " ")
		for _, text := range step.says {
			if !strings.Contains(told, text) {
				t.Errorf("%v lacks %q: %s", step.args, text, told)
			}
		}
	}
}
