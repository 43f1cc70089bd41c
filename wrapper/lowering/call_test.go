// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package lowering_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/ruleengine"
	"github.com/tfweaver/tfweaver/wrapper/intercept"
	"github.com/tfweaver/tfweaver/wrapper/lowering"
	"github.com/zclconf/go-cty/cty"
)

func TestCallsAndTheirGroups(t *testing.T) {
	t.Parallel()
	bothProducts(t, "deposed", func(t *testing.T, p *lowering.Plan, _ []byte) {
		var got []string
		for _, c := range p.Calls() {
			got = append(got, fmt.Sprintf("%s | %s | %s", c.ID, c.Address+"/"+c.Deposed, c.Group))
			if want := string(c.Operation.Action); !strings.HasPrefix(string(c.ID), want+" ") {
				t.Errorf("%s is a %s", c.ID, want)
			}
		}
		want := []string{
			"delete terraform_data.calm (deposed 00000000) | terraform_data.calm/00000000 | ",
			"delete terraform_data.first | terraform_data.first/ | terraform_data.first",
			"create terraform_data.first | terraform_data.first/ | terraform_data.first",
			"delete terraform_data.first (deposed 00000001) | terraform_data.first/00000001 | terraform_data.first",
			"create terraform_data.gone | terraform_data.gone/ | terraform_data.gone",
			"delete terraform_data.gone (deposed 00000002) | terraform_data.gone/00000002 | terraform_data.gone",
			"create terraform_data.swap | terraform_data.swap/ | terraform_data.swap",
			"delete terraform_data.swap | terraform_data.swap/ | terraform_data.swap",
			"delete terraform_data.swap (deposed 00000003) | terraform_data.swap/00000003 | terraform_data.swap",
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("calls (-want +got):\n%s", diff)
		}
	})
}

func TestNeedsOrder(t *testing.T) {
	t.Parallel()
	anything := func(ruleengine.Operation) bool { return true }
	nothing := func(ruleengine.Operation) bool { return false }
	for _, c := range []struct {
		plan     string
		consumes func(ruleengine.Operation) bool
		want     bool
	}{
		{"create.json", nil, false},
		{"create.json", nothing, false},
		{"create.json", anything, true},
		{"change.json", nil, true},  // it replaces
		{"deposed.json", nil, true}, // it deletes a deposed object and no more
	} {
		if got := read(t, c.plan).NeedsOrder(c.consumes); got != c.want {
			t.Errorf("%s: %v, want %v", c.plan, got, c.want)
		}
	}
}

// The module's resources have a provisioner for their end; nothing else has.
func TestProvisioned(t *testing.T) {
	t.Parallel()
	bothProducts(t, "mixed", func(t *testing.T, p *lowering.Plan, _ []byte) {
		want := []string{
			`module.net["b"].terraform_data.in["k\"q (destroy)"]`, `module.net["b"].terraform_data.in["z"]`,
			`module.net["x.y"].terraform_data.in["k\"q (destroy)"]`, `module.net["x.y"].terraform_data.in["z"]`,
		}
		if diff := cmp.Diff(want, p.Provisioned()); diff != "" {
			t.Errorf("provisioned (-want +got):\n%s", diff)
		}
		for _, c := range p.Calls() {
			if c.Provisioned != slices.Contains(want, c.Address) {
				t.Errorf("%s: provisioned is %v", c.ID, c.Provisioned)
			}
		}
	})
}

// No provisioner runs with an update.
func TestProvisionersOfAnUpdate(t *testing.T) {
	t.Parallel()
	src := `{"format_version":"1.2","resource_changes":[
		{"address":"x_y.a","mode":"managed","type":"x_y","name":"a","provider_name":"h/n/x","change":{"actions":["update"],"before":{"id":"1"},"after":{"id":"1"}}},
		{"address":"x_y.b","mode":"managed","type":"x_y","name":"b","provider_name":"h/n/x","change":{"actions":["create"],"before":null,"after":{}}}],
		"configuration":{"root_module":{"resources":[
		{"address":"x_y.a","mode":"managed","type":"x_y","name":"a","provisioners":[{"type":"local-exec"}]},
		{"address":"x_y.b","mode":"managed","type":"x_y","name":"b","provisioners":[{"type":"local-exec"}]}]}}}`
	p, err := lowering.Read(t.Context(), []byte(src), lowering.Sources{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"x_y.b"}, p.Provisioned()); diff != "" {
		t.Errorf("provisioned (-want +got):\n%s", diff)
	}
}

// Every call of a plan with replaces in both orders and deposed objects finds
// its own id, whichever comes first.
func TestMatchCallOfReplacesAndDeposedObjects(t *testing.T) {
	t.Parallel()
	for _, plan := range []string{"deposed.terraform", "mixed.tofu"} {
		for _, backwards := range []bool{false, true} {
			p, _ := recorded(t, plan)
			calls := p.Calls()
			if backwards {
				slices.Reverse(calls)
			}
			for _, c := range calls {
				m := p.MatchCall(sent(c.Operation, stays))
				if !alike(m.ID, c.ID) || !slices.Contains(m.Among(), c.ID) {
					t.Errorf("%s, backwards %v: %s was taken for %q (%s)", plan, backwards, c.ID, m.ID, m.Name())
				}
			}
			if m := p.MatchCall(sent(calls[0].Operation, stays)); m.ID != "" || m.Address != "" {
				t.Errorf("%s: a second %s was taken for %q (%s)", plan, calls[0].ID, m.ID, m.Name())
			}
		}
	}
}

// alike: creates of the built-in resource differ in nothing but what triggers
// them.
func alike(a, b admission.CallID) bool {
	return a == b || strings.HasPrefix(string(a), "create ") && strings.HasPrefix(string(b), "create ")
}

// replacedAlike is a plan that replaces two instances by objects that are alike,
// and the calls of it.
func replacedAlike(t *testing.T) (p *lowering.Plan, old func(id string) intercept.Call, create intercept.Call) {
	t.Helper()
	const change = `{"address":"x_y.a[%[1]d]","mode":"managed","type":"x_y","name":"a","index":%[1]d,"provider_name":"h/n/x",
		"change":{"actions":["delete","create"],"before":{"id":"%[1]d","size":1},"after":{"size":2},"after_unknown":{"id":true}}}`
	src := `{"format_version":"1.2","resource_changes":[` + fmt.Sprintf(change, 0) + "," + fmt.Sprintf(change, 1) + `]}`
	p, err := lowering.Read(t.Context(), []byte(src), lowering.Sources{})
	if err != nil {
		t.Fatal(err)
	}
	old = func(id string) intercept.Call {
		prior := cty.ObjectVal(map[string]cty.Value{"id": cty.StringVal(id), "size": cty.NumberIntVal(1)})
		return intercept.Call{Provider: "h/n/x", Type: "x_y", Action: intercept.Delete, Prior: prior, Planned: cty.NullVal(prior.Type())}
	}
	planned := cty.ObjectVal(map[string]cty.Value{"id": cty.UnknownVal(cty.String), "size": cty.NumberIntVal(2)})
	create = intercept.Call{Provider: "h/n/x", Type: "x_y", Action: intercept.Create, Prior: cty.NullVal(planned.Type()), Planned: planned}
	return p, old, create
}

// Both instances are replaced and will be alike. The old one of the second is
// gone already, so that the create can only be its.
func TestCreatesThatAreAlike(t *testing.T) {
	t.Parallel()
	p, old, create := replacedAlike(t)
	check := func(call intercept.Call, want admission.CallID) lowering.Match {
		t.Helper()
		m := p.MatchCall(call)
		if m.ID != want || !m.Certain() {
			t.Errorf("taken for %q among %v, want %q alone", m.ID, m.Among(), want)
		}
		return m
	}
	check(old("0"), "delete x_y.a[0]")
	second := check(old("1"), "delete x_y.a[1]")
	p.Succeeded(second)
	check(create, "create x_y.a[1]")
	check(create, "create x_y.a[0]")
}

// While the old ones of both are gone, a create may be that of either.
func TestCreatesThatAreAlikeAtTheSameTime(t *testing.T) {
	t.Parallel()
	p, old, create := replacedAlike(t)
	for _, id := range []string{"0", "1"} {
		p.Succeeded(p.MatchCall(old(id)))
	}
	first, second := p.MatchCall(create), p.MatchCall(create)
	for _, m := range []lowering.Match{first, second} {
		if m.Certain() || m.Name() != "one of x_y.a[0], x_y.a[1]" {
			t.Errorf("name %q", m.Name())
		}
	}
	if first.ID == second.ID || first.ID == "" || second.ID == "" {
		t.Errorf("taken for %q and %q", first.ID, second.ID)
	}
}
