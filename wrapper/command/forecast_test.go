// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

//go:build !windows

package command

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/tfweaver/tfweaver/internal/coordinator/client"
	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/ruleengine"
	"github.com/tfweaver/tfweaver/wrapper/plugins/plugintest"
)

// updateJSON is the form of a plan that updates the object "thing-1".
func updateJSON() string {
	state := map[string]any{"id": "thing-1", "name": "a"}
	text, _ := json.Marshal(map[string]any{
		"format_version": "1.2", "terraform_version": "1.11.4", "applyable": true,
		"resource_changes": []any{map[string]any{
			"address": "fixture_thing.a", "mode": "managed", "type": "fixture_thing", "name": "a", "provider_name": plugintest.Source,
			"change": map[string]any{"actions": []string{"update"}, "before": state, "after": map[string]any{"id": "thing-1", "name": "b"}, "after_unknown": map[string]any{}},
		}},
	})
	return string(text)
}

// hold makes another session change "thing-1" until it is closed, or the test
// ends.
func (r *rig) hold(t *testing.T) *client.Session {
	t.Helper()
	session, _ := r.holdBy(t)
	return session
}

// holdRequest is hold for those who want to ask for the same.
func (r *rig) holdRequest(t *testing.T) admission.Request {
	t.Helper()
	_, request := r.holdBy(t)
	return request
}

func (r *rig) holdBy(t *testing.T) (*client.Session, admission.Request) {
	t.Helper()
	conn, err := client.Dial(t.Context(), r.Env.Get("TFWEAVER_COORDINATOR"))
	if err != nil {
		t.Fatal(err)
	}
	session, err := conn.Open(t.Context(), client.SessionConfig{Actor: "alice", Objective: "repair", Policy: admission.Queue})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if _, err := session.Close(t.Context()); err != nil {
			t.Log(err)
		}
		_ = conn.Close()
	})
	engine, err := loadRules("", nil)
	if err != nil {
		t.Fatal(err)
	}
	state := cty.ObjectVal(map[string]cty.Value{"id": cty.StringVal("thing-1"), "name": cty.StringVal("a")})
	lowered, err := engine.Lower(t.Context(), ruleengine.Operation{
		Provider: plugintest.Source, ProviderConfig: cty.NullVal(cty.DynamicPseudoType), Type: "fixture_thing",
		Action: admission.Update, Address: "fixture_thing.theirs", Prior: state, Planned: state, Sensitive: cty.NewPathSet(),
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := session.Submit(t.Context(), lowered.Request, "", nil); err != nil {
		t.Fatal(err)
	}
	return session, lowered.Request
}

func TestAPlanThatCannotBeMadeIsNotApplied(t *testing.T) {
	t.Parallel()
	for flag, code := range map[string]int{"-weaver-policy=reject": ExitError, "-weaver-exit-codes": ExitRefused} {
		r := complete(t, "apply", "-no-color", "-weaver-wait=0s", flag)
		write(t, filepath.Join(r.cli, "plan.json"), updateJSON(), 0o600)
		r.Stdin = typed(t, "yes\n")
		r.hold(t)
		r.run(t, code)
		if r.stdout.String() != "the plan\n" {
			t.Errorf("asked for approval of what cannot be made: %q", r.stdout)
		}
		for _, text := range []string{"1 change of the plan cannot be made", "fixture_thing.a", "alice", "repair", "Nothing was sent"} {
			if !strings.Contains(r.stderr.String(), text) {
				t.Errorf("standard error lacks %q:\n%s", text, r.stderr)
			}
		}
		for _, call := range r.calls(t) {
			if strings.HasPrefix(call, "apply") {
				t.Errorf("it was applied: %s", call)
			}
		}
	}
}

func TestAPlanThatWouldWaitIsApplied(t *testing.T) {
	t.Parallel()
	r := complete(t, "apply", "-auto-approve")
	write(t, filepath.Join(r.cli, "plan.json"), updateJSON(), 0o600)
	r.hold(t)
	r.run(t, 0)
	if !strings.Contains(r.stderr.String(), "1 change of the plan would wait") || !strings.HasSuffix(r.stdout.String(), "the apply\n") {
		t.Errorf("stdout %q\nstderr %q", r.stdout, r.stderr)
	}
	if !strings.Contains(r.stderr.String(), "Coordinated with 1 other session") {
		t.Errorf("standard error %q", r.stderr)
	}
}
