// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package view

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tfweaver/tfweaver/internal/core/admission"
)

func fullPolicy() Policy {
	all := []Subject{Everyone}
	return Policy{
		Default: Confined, Parents: NoParents,
		Rules:  []Rule{{For: []Subject{LabelSubject("team", "net")}, See: Open}, {For: all, See: Confined, Parents: Full}},
		Shares: []Share{{Node: "r/g", With: []Subject{StateSubject("a"), SessionSubject("b")}, Mode: Use, Parents: Names, Contents: true}},
		Shown:  []Disclosure{{Sessions: []Subject{StateSubject("a")}, To: all}},
	}
}

func TestPolicyJSON(t *testing.T) {
	t.Parallel()
	for _, p := range []Policy{{}, fullPolicy()} {
		data, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		back, err := DecodePolicy(data)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(p, back); d != "" {
			t.Error(d)
		}
	}
}

func TestPolicyIsRefused(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"not JSON":             `{`,
		"new field":            `{"default":"open","hide":[]}`,
		"something behind":     `{} {}`,
		"level":                `{"default":"closed"}`,
		"parents":              `{"parents":"all"}`,
		"rule for nobody":      `{"rules":[{"for":[],"see":"open"}]}`,
		"rule without a level": `{"rules":[{"for":["*"]}]}`,
		"rule with a level":    `{"rules":[{"for":["*"],"see":"x"}]}`,
		"share of nothing":     `{"shares":[{"with":["*"],"mode":"read"}]}`,
		"share of a facet":     `{"shares":[{"node":"r/g/~life","with":["*"],"mode":"read"}]}`,
		"share with nobody":    `{"shares":[{"node":"r/g","mode":"read"}]}`,
		"share in no mode":     `{"shares":[{"node":"r/g","with":["*"]}]}`,
		"share with parents":   `{"shares":[{"node":"r/g","with":["*"],"mode":"read","parents":"some"}]}`,
		"subject twice":        `{"shares":[{"node":"r/g","with":["*","*"],"mode":"read"}]}`,
		"unknown subject":      `{"shown":[{"sessions":["team:a"],"to":["*"]}]}`,
		"label without a key":  `{"shown":[{"sessions":["label:=a"],"to":["*"]}]}`,
		"label without a sign": `{"shown":[{"sessions":["label:a"],"to":["*"]}]}`,
		"shown to nobody":      `{"shown":[{"sessions":["*"]}]}`,
		"no session":           `{"shown":[{"sessions":["session:"],"to":["*"]}]}`,
	} {
		if _, err := DecodePolicy([]byte(text)); !errors.Is(err, ErrPolicy) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestSubjects(t *testing.T) {
	t.Parallel()
	x := admission.Session{ID: "s", Origin: "o", Labels: map[string]string{"team": "net", "empty": ""}}
	for s, want := range map[Subject]bool{
		"*": true, "session:s": true, "session:o": false, "state:o": true, "state:s": false,
		"label:team=net": true, "label:team=": false, "label:empty=": true, "label:none=": false, "": false,
	} {
		if got := s.Matches(&x); got != want {
			t.Errorf("%q: %t", s, got)
		}
	}
}

// TestRulesInOrder: the first rule that picks a session counts, and the default
// where none does. Nothing set shows everything.
func TestRulesInOrder(t *testing.T) {
	t.Parallel()
	if !NewLens(Policy{}, admission.Session{}).Open() {
		t.Error("the zero policy hides something")
	}
	p := fullPolicy()
	if NewLens(p, admission.Session{ID: "x"}).Open() || !NewLens(p, admission.Session{Labels: map[string]string{"team": "net"}}).Open() {
		t.Error("the wrong rule")
	}
	p.Rules = p.Rules[:1]
	if NewLens(p, admission.Session{ID: "x"}).Open() {
		t.Error("not the default")
	}
}

// TestLensKeepsItsPolicy: whoever changes a policy afterwards changes nothing.
func TestLensKeepsItsPolicy(t *testing.T) {
	t.Parallel()
	p := policyFor("r/h")
	w := newWorld(t, "r/h", admission.Queue)
	l := NewLens(p, session("me"))
	before := l.AppendTo(nil, w.state)
	p.Shares[0].Mode, p.Shares[0].With[0], p.Shown[0].To[0] = Change, Everyone, "session:x"
	if string(l.AppendTo(nil, w.state)) != string(before) {
		t.Error("the lens changed with the policy")
	}
}
