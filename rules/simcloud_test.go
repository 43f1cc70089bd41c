// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package rules_test

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	"github.com/tfweaver/tfweaver/internal/ruleengine/ruletest"
)

// place is a file of the pack with a place in it, which moves with every edit.
var place = regexp.MustCompile(`([a-z]+\.hcl):[0-9]+,[0-9,-]+`)

// TestLockPlans shows what each operation takes, for every type of the pack.
func TestLockPlans(t *testing.T) {
	t.Parallel()
	e := load(t)
	covered := map[string]bool{}
	datadriven.RunTest(t, "testdata/simcloud.txt", func(t *testing.T, d *datadriven.TestData) string {
		switch d.Cmd {
		case "lower":
			resourceType := "simcloud_" + d.CmdArgs[0].Key
			covered[resourceType] = true
			plan := ruletest.Format(lower(t, e, resourceType, d.Input, associated()), short())
			return place.ReplaceAllString(plan, "$1")
		default:
			t.Fatalf("%s: unknown command %s", d.Pos, d.Cmd)
			return ""
		}
	})
	for _, pack := range e.Packs() {
		for _, resourceType := range pack.Types {
			if !covered[resourceType] {
				t.Errorf("no lock plan of %s is shown", resourceType)
			}
		}
	}
}

// TestEveryRuleExplainsItself asks for a sentence about each rule that a lock
// plan or a guard names.
func TestEveryRuleExplainsItself(t *testing.T) {
	t.Parallel()
	e := load(t)
	for _, op := range scenarios() {
		l := lower(t, e, op.resourceType, op.src, associated())
		rules := map[string]bool{}
		for _, w := range l.Request.Locks {
			rules[w.Rule] = true
		}
		for _, g := range l.Request.Guards {
			rules[g.Rule] = true
		}
		delete(rules, "") // intentions have none
		for rule := range rules {
			if doc := e.Doc(rule); !strings.HasSuffix(doc, ".") || strings.Contains(doc, "..") {
				t.Errorf("rule %s says %q", rule, doc)
			}
		}
	}
}

// TestTimesOfTheCloud: what the pages say of lands and timeout holds for every
// type.
func TestTimesOfTheCloud(t *testing.T) {
	t.Parallel()
	e := load(t)
	for _, op := range scenarios() {
		r := lower(t, e, op.resourceType, op.src, associated()).Request
		if r.Lands != int64(2*time.Second) || r.Timeout != int64(30*time.Minute) {
			t.Errorf("%s: lands %v, timeout %v", op.name, time.Duration(r.Lands), time.Duration(r.Timeout))
		}
	}
}
