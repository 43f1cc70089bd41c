// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package rules_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	"github.com/tfweaver/tfweaver/internal/core/lock"
	"github.com/tfweaver/tfweaver/internal/simcloud"
	"github.com/tfweaver/tfweaver/internal/simcloud/arm"
)

// plans are the lock plans of the scenarios.
func plans(t testing.TB) []lock.Plan {
	t.Helper()
	e := load(t)
	var all []lock.Plan
	for _, s := range scenarios() {
		all = append(all, lower(t, e, s.resourceType, s.src, associated()).Request.Locks)
	}
	return all
}

func clash(a, b lock.Plan) bool {
	_, _, found := a.Clash(b)
	return found
}

// TestConflictMatrix shows which operations exclude each other: X where they
// do, a dot where they may run at the same time.
func TestConflictMatrix(t *testing.T) {
	t.Parallel()
	all := plans(t)
	datadriven.RunTest(t, "testdata/matrix.txt", func(t *testing.T, d *datadriven.TestData) string {
		var b strings.Builder
		for i, s := range scenarios() {
			fmt.Fprintf(&b, "%2d %-32s ", i+1, s.name)
			for j := range i + 1 {
				b.WriteByte(map[bool]byte{true: 'X', false: '.'}[clash(all[i], all[j])])
			}
			b.WriteByte('\n')
		}
		return b.String()
	})
}

// TestThePackAgreesWithTheCloud sends every pair of operations to the cloud at
// the same time. What the cloud refuses because the other is in flight must be
// a conflict of the lock plans, or a run would meet the refusal; what it takes
// must be none, or runs would wait for nothing.
func TestThePackAgreesWithTheCloud(t *testing.T) {
	t.Parallel()
	all, ops := plans(t), scenarios()
	for i := range ops {
		for j := range i {
			a, b := ops[i], ops[j]
			refused := refusedBeside(t, a, b)
			if refused == "" {
				refused = refusedBeside(t, b, a)
			}
			switch held := clash(all[i], all[j]); {
			case refused != "" && !held:
				t.Errorf("%s and %s do not exclude each other, and the cloud says %s", a.name, b.name, refused)
			case refused == "" && held:
				t.Errorf("%s and %s exclude each other, and the cloud takes both", a.name, b.name)
			}
		}
	}
}

// refusedBeside is the code with which the cloud refuses an operation while
// another is in flight; empty when it takes it.
func refusedBeside(t *testing.T, inFlight, next scenario) arm.Code {
	t.Helper()
	c := newTown(t)
	if refusal := c.send(inFlight); refusal != nil {
		t.Fatalf("%s alone is refused: %v", inFlight.name, refusal)
	}
	if refusal := c.send(next); refusal != nil {
		return refusal.Code
	}
	return ""
}

// cloud is a simulated cloud in virtual time.
type cloud struct {
	t *testing.T
	*simcloud.Cloud
}

// newTown is a cloud with the town built and nothing in flight.
func newTown(t *testing.T) cloud {
	t.Helper()
	clock := simcloud.NewVirtualClock(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	sim, err := simcloud.New(simcloud.Config{Clock: clock, Quotas: map[string]int{"north": 100, "north/standardBSFamily": 100}})
	if err != nil {
		t.Fatal(err)
	}
	c := cloud{t, sim}
	for _, s := range town() {
		if refusal := c.send(s); refusal != nil {
			t.Fatalf("town: %s is refused: %v", s.name, refusal)
		}
		for clock.Step() {
		}
	}
	return c
}

// send makes one call the way the provider does: a rule goes with the change
// token that its group has at that moment, a policy document with its own.
func (c cloud) send(s scenario) *arm.Error {
	c.t.Helper()
	call := simcloud.Call{Method: s.method, Path: s.path, Actor: "a"}
	if s.method != "DELETE" {
		body, err := json.Marshal(s.body)
		if err != nil {
			c.t.Fatal(err)
		}
		call.Body = body
	}
	if in, _, isRule := strings.Cut(s.path, "/securityRules/"); isRule {
		holder, refusal := c.Read(simcloud.Call{Method: "GET", Path: in})
		if refusal != nil {
			return refusal
		}
		call.IfMatch = holder.Etag
	}
	if strings.HasPrefix(s.path, policyID) {
		if document, refusal := c.Read(simcloud.Call{Method: "GET", Path: s.path}); refusal == nil {
			call.IfMatch = document.Etag
		}
	}
	_, refusal := c.Write(call)
	return refusal
}
