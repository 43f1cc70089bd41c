// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

//go:build !windows

package command

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tfweaver/tfweaver/internal/coordinator/client"
	"github.com/tfweaver/tfweaver/internal/core/graph"
	"github.com/tfweaver/tfweaver/wrapper/arguments"
	"github.com/tfweaver/tfweaver/wrapper/gatekeeper"
	"github.com/tfweaver/tfweaver/wrapper/plugins/plugintest"
	"github.com/tfweaver/tfweaver/wrapper/settings"
)

// replaceJSON is the form of a plan that replaces the object "thing-1".
func replaceJSON() string {
	text, _ := json.Marshal(map[string]any{
		"format_version": "1.2", "terraform_version": "1.11.4", "applyable": true,
		"resource_changes": []any{map[string]any{
			"address": "fixture_thing.a", "mode": "managed", "type": "fixture_thing", "name": "a", "provider_name": plugintest.Source,
			"change": map[string]any{
				"actions": []string{"delete", "create"}, "before": map[string]any{"id": "thing-1", "name": "a"},
				"after": map[string]any{"name": "b"}, "after_unknown": map[string]any{"id": true},
			},
		}},
	})
	return string(text)
}

// replacing is a rig whose plan replaces an object, with a CLI that tells the
// order of it.
func replacing(t *testing.T, args ...string) *rig {
	t.Helper()
	r := complete(t, args...)
	write(t, filepath.Join(r.cli, "plan.json"), replaceJSON(), 0o600)
	return r
}

func applied(t *testing.T, r *rig) bool {
	t.Helper()
	return slices.ContainsFunc(r.calls(t), func(call string) bool { return strings.HasPrefix(call, "apply") })
}

// TestTheOrderIsAskedForWhereItMatters: asking takes as long as the CLI takes to
// start.
func TestTheOrderIsAskedForWhereItMatters(t *testing.T) {
	t.Parallel()
	for plan, asked := range map[string]bool{replaceJSON(): true, updateJSON(): false, planJSON(true): false} {
		r := complete(t, "apply", "-auto-approve", "-var=x=1")
		write(t, filepath.Join(r.cli, "plan.json"), plan, 0o600)
		r.run(t, 0)
		calls := r.calls(t)
		if got := slices.Contains(calls, "graph -type=apply -plan=PRIVATE/plan-1"); got != asked {
			t.Errorf("asked for the order: %v\n%s", got, strings.Join(calls, "\n"))
		}
		if graph, apply := slices.IndexFunc(calls, starts("graph")), slices.IndexFunc(calls, starts("apply")); graph > apply {
			t.Errorf("the order is asked for too late:\n%s", strings.Join(calls, "\n"))
		}
	}
}

// TestTheOrderOfASavedPlan is asked for as well, before the plan is applied.
func TestTheOrderOfASavedPlan(t *testing.T) {
	t.Parallel()
	r := replacing(t, "apply", "-var=x=1", "my.plan")
	r.run(t, 0)
	want := []string{"version -json", "show -json my.plan", "graph -type=apply -plan=my.plan", "apply -var=x=1 -parallelism=10 my.plan"}
	if diff := cmp.Diff(want, r.calls(t)); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
}

func starts(with string) func(string) bool {
	return func(call string) bool { return strings.HasPrefix(call, with) }
}

// TestAReplaceIsReservedBeforeTheCLIApplies: while somebody else changes the
// object, nothing of the plan is begun.
func TestAReplaceIsReservedBeforeTheCLIApplies(t *testing.T) {
	t.Parallel()
	r := replacing(t, "apply", "-auto-approve")
	out := &heard{}
	r.Stderr = out
	release := r.holding(t)
	done := make(chan int, 1)
	go func() { done <- r.Run(t.Context()) }()
	await(t, out, "The plan waits")
	if applied(t, r) {
		t.Error("the CLI applies while the plan waits")
	}
	if said := out.String(); !strings.Contains(said, "alice") || !strings.Contains(said, "repair") {
		t.Errorf("standard error %q", said)
	}
	release()
	if code := <-done; code != 0 || !applied(t, r) {
		t.Errorf("exit code %d: %s", code, out)
	}
	r.nothingHeld(t)
}

// TestCtrlCWhileAPlanWaits gives up the place, and applies nothing.
func TestCtrlCWhileAPlanWaits(t *testing.T) {
	t.Parallel()
	r := replacing(t, "apply", "-auto-approve")
	out := &heard{}
	r.Stderr = out
	release := r.holding(t)
	done := make(chan int, 1)
	go func() { done <- r.Run(t.Context()) }()
	await(t, out, "The plan waits")
	r.signals <- os.Interrupt
	if code := <-done; code != ExitError || applied(t, r) || !strings.Contains(out.String(), "Interrupted") {
		t.Errorf("exit code %d: %s", code, out)
	}
	release()
	r.nothingHeld(t)
}

// TestAPlanThatWaitedTooLong is not applied, and says for whom it waited.
func TestAPlanThatWaitedTooLong(t *testing.T) {
	t.Parallel()
	for flag, code := range map[string]int{"-weaver-exit-codes=false": ExitError, "-weaver-exit-codes": ExitRefused} {
		r := replacing(t, "apply", "-auto-approve", "-weaver-wait=50ms", flag)
		r.holding(t)
		r.run(t, code)
		said := r.stderr.String()
		if applied(t, r) || !strings.Contains(said, "waited too long") || !strings.Contains(said, "alice") {
			t.Errorf("standard error %q", said)
		}
	}
}

// TestModesOfAReservation: in the mode "wait" it goes on in the end, and where
// nothing is coordinated but noted it does not wait at all.
func TestModesOfAReservation(t *testing.T) {
	t.Parallel()
	for mode, waits := range map[string]bool{"wait": true, "observe": false} {
		r := replacing(t, "apply", "-auto-approve", "-weaver-wait=50ms")
		write(t, filepath.Join(r.work, ".tfweaver.hcl"), "realm \"*\" {\n  mode = \""+mode+"\"\n}", 0o600)
		r.holding(t)
		r.run(t, 0)
		if said := r.stderr.String(); !applied(t, r) || strings.Contains(said, "The plan waits") != waits || strings.Contains(said, "gave up") {
			t.Errorf("%s: standard error %q", mode, said)
		}
	}
}

// TestModeOfARealm: what the run is told counts in all realms, else what the
// settings say of one.
func TestModeOfARealm(t *testing.T) {
	t.Parallel()
	shared := settings.Settings{Mode: "wait", Realms: []settings.Realm{{Pattern: "cloud:*-sandbox", Mode: "observe"}}}
	for _, tt := range []struct {
		told   string
		shared settings.Settings
		realm  graph.NodeID
		want   gatekeeper.Mode
	}{
		{"", settings.Settings{}, "cloud:a", gatekeeper.Enforce},
		{"", settings.Settings{}, "", gatekeeper.Enforce},
		{"", shared, "cloud:a", gatekeeper.Wait},
		{"", shared, "", gatekeeper.Wait},
		{"", shared, "cloud:a-sandbox", gatekeeper.Observe},
		{"enforce", shared, "cloud:a-sandbox", gatekeeper.Enforce},
		{"observe", shared, "cloud:a", gatekeeper.Observe},
	} {
		r := &run{shared: tt.shared, inv: arguments.Invocation{Weaver: arguments.Weaver{Mode: tt.told}}}
		if got := r.mode(tt.realm); got != tt.want {
			t.Errorf("told %q, in %q: %s, want %s", tt.told, tt.realm, got, tt.want)
		}
	}
}

// TestAForecastThatOnlyObserves stops nothing: the run says what would be.
func TestAForecastThatOnlyObserves(t *testing.T) {
	t.Parallel()
	r := complete(t, "apply", "-auto-approve", "-weaver-policy=reject", "-weaver-mode=observe")
	write(t, filepath.Join(r.cli, "plan.json"), updateJSON(), 0o600)
	r.hold(t)
	r.run(t, 0)
	if said := r.stderr.String(); !applied(t, r) || !strings.Contains(said, "would be refused in the mode") || strings.Contains(said, "Error") {
		t.Errorf("standard error %q", said)
	}
}

var askedAbout = regexp.MustCompile("`tfweaver why (t[0-9]+)`")

// TestOverride: a person passes the decision that they saw, for that once, and
// it is recorded with their name and reason.
func TestOverride(t *testing.T) {
	t.Parallel()
	r := replacing(t, "apply", "-auto-approve", "-weaver-wait=50ms")
	r.holding(t)
	r.run(t, ExitError)
	m := askedAbout.FindStringSubmatch(unboxed(r.stderr.String()))
	if m == nil {
		t.Fatalf("no decision is named: %s", r.stderr)
	}
	r.stderr.Reset()
	r.Args = []string{"apply", "-auto-approve", "-weaver-wait=1m", "-weaver-override=" + m[1], "-reason=alice went home"}
	r.run(t, 0)
	if said := r.stderr.String(); !applied(t, r) || !strings.Contains(said, "overridden by tester") || !strings.Contains(said, "alice went home") {
		t.Errorf("standard error %q", said)
	}
	r.stdout.Reset()
	r.Args = []string{"report"}
	r.run(t, 0)
	for _, text := range []string{"was passed by tester: alice went home", "would wait (override)", "alice (\"repair\")"} {
		if !strings.Contains(r.stdout.String(), text) {
			t.Errorf("the report lacks %q:\n%s", text, r.stdout)
		}
	}
}

// TestOverrideOfAForecast: a forecast that refuses has no decision to name yet,
// so the change is named. What else is refused ends the run as ever.
func TestOverrideOfAForecast(t *testing.T) {
	t.Parallel()
	for word, code := range map[string]int{"fixture_thing.a": 0, "fixture_thing.b": ExitError} {
		r := complete(t, "apply", "-auto-approve", "-weaver-policy=reject", "-weaver-override="+word, "-weaver-reason=agreed with alice")
		write(t, filepath.Join(r.cli, "plan.json"), updateJSON(), 0o600)
		r.hold(t)
		r.run(t, code)
		// The CLI of the rig sends nothing, so that there is nothing to pass.
		if said := r.stderr.String(); applied(t, r) != (code == 0) || !strings.Contains(said, "The override was not used") {
			t.Errorf("%s: standard error %q", word, said)
		}
	}
}

func await(t *testing.T, out *heard, text string) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !strings.Contains(out.String(), text); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%q is not said: %s", text, out)
		}
	}
}

// holding makes another session change "thing-1" until release is called.
func (r *rig) holding(t *testing.T) (release func()) {
	t.Helper()
	session := r.hold(t)
	return func() {
		if _, err := session.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

// nothingHeld makes sure that the run left nothing behind.
func (r *rig) nothingHeld(t *testing.T) {
	t.Helper()
	conn, err := client.Dial(t.Context(), r.Env.Get("TFWEAVER_COORDINATOR"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	s, err := conn.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Sessions)+len(s.Transactions)+len(s.Claims)+len(s.Locks) > 0 {
		t.Errorf("left behind: %+v", s)
	}
}

// TestPatternsThatFitNoRealm: a misspelt one is told at the end of a run that it
// might have been meant for, as far as it would have changed something.
func TestPatternsThatFitNoRealm(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		text   string
		warned bool
	}{
		"misspelt": {"mode = \"wait\"\nrealm \"nowhere[\" {\n  mode = \"enforce\"\n}\n", true},
		"the same": {"mode = \"wait\"\nrealm \"nowhere[\" {\n  mode = \"wait\"\n}\n", false},
		"one fits": {"realm \"nowhere[\" {\n  mode = \"wait\"\n}\nrealm \"*\" {\n  mode = \"observe\"\n}\n", false},
	} {
		r := replacing(t, "apply", "-auto-approve")
		write(t, filepath.Join(r.work, ".tfweaver.hcl"), tt.text, 0o600)
		r.run(t, 0)
		said := unboxed(r.stderr.String())
		if warned := strings.Contains(said, "No realm of the settings fits"); warned != tt.warned {
			t.Errorf("%s: warned %v: %q", name, warned, said)
		}
		if tt.warned && (!strings.Contains(said, `"nowhere["`) || !strings.Contains(said, `The mode "wait" was used`)) {
			t.Errorf("%s: %q", name, said)
		}
	}
	// What the run was told counts in all realms.
	r := replacing(t, "apply", "-auto-approve", "-weaver-mode=observe")
	write(t, filepath.Join(r.work, ".tfweaver.hcl"), "realm \"nowhere\" {\n  mode = \"wait\"\n}\n", 0o600)
	r.run(t, 0)
	if strings.Contains(unboxed(r.stderr.String()), "No realm of the settings fits") {
		t.Errorf("warned of what did not count: %s", r.stderr)
	}
}
