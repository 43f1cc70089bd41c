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
