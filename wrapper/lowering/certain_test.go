// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package lowering_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/tfweaver/tfweaver/wrapper/intercept"
	"github.com/tfweaver/tfweaver/wrapper/lowering"
	"github.com/zclconf/go-cty/cty"
)

// planOf is a plan of changes to x_y.a, x_y.b and so on, each given as the inside
// of its change.
func planOf(t *testing.T, from lowering.Sources, more string, changes ...string) *lowering.Plan {
	t.Helper()
	var list []string
	for i, change := range changes {
		name := string(rune('a' + i))
		list = append(list, fmt.Sprintf(`{"address":"x_y.%[1]s","mode":"managed","type":"x_y","name":%[1]q,"provider_name":"h/n/x","change":{%[2]s}}`, name, change))
	}
	src := `{"format_version":"1.2","resource_changes":[` + strings.Join(list, ",") + `]` + more + `}`
	p, err := lowering.ReadFrom(t.Context(), strings.NewReader(src), from)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// callOf is a call with states that have the attributes n and m; nil for no state.
func callOf(action intercept.Action, prior, planned []string) intercept.Call {
	state := func(texts []string) cty.Value {
		if texts == nil {
			return cty.NullVal(cty.DynamicPseudoType)
		}
		attrs := map[string]cty.Value{}
		for i, text := range texts {
			attrs[string("nm"[i])] = cty.StringVal(text)
		}
		return cty.ObjectVal(attrs)
	}
	return intercept.Call{Provider: "h/n/x", Type: "x_y", Action: action, Prior: state(prior), Planned: state(planned)}
}

func wantName(t *testing.T, m lowering.Match, want string) {
	t.Helper()
	if m.Name() != want {
		t.Errorf("called %q, want %q", m.Name(), want)
	}
}

// What is taken for a change need not be the call of it; what is for certain
// cannot be another.
func TestACertainCallLeavesTheOthers(t *testing.T) {
	t.Parallel()
	p := planOf(t, lowering.Sources{}, "",
		`"actions":["create"],"before":null,"after":{"n":"x"}`,
		`"actions":["create"],"before":null,"after":{},"after_unknown":{"n":true}`,
		`"actions":["create"],"before":null,"after":{"n":"x"}`)
	wantName(t, p.MatchCall(callOf(intercept.Create, nil, []string{"x"})), "one of x_y.a, x_y.b, x_y.c")
	wantName(t, p.MatchCall(callOf(intercept.Create, nil, []string{"y"})), "x_y.b")
	wantName(t, p.MatchCall(callOf(intercept.Create, nil, []string{"x"})), "one of x_y.a, x_y.c")
}

func TestUpdatesToTheSameFromDifferent(t *testing.T) {
	t.Parallel()
	p := planOf(t, lowering.Sources{}, "",
		`"actions":["update"],"before":{"n":"1","on":true},"after":{"n":"2"}`,
		`"actions":["update"],"before":{"n":"1","on":false},"after":{"n":"2"}`)
	call := callOf(intercept.Update, nil, []string{"2"})
	for on, want := range map[bool]string{true: "x_y.a", false: "x_y.b"} {
		call.Prior = cty.ObjectVal(map[string]cty.Value{"n": cty.StringVal("1"), "on": cty.BoolVal(on)})
		wantName(t, p.MatchCall(call), want)
	}
}

// A create that may be that of either lets the delete of either come next.
func TestSuccessOfOneOfTwins(t *testing.T) {
	t.Parallel()
	const replace = `"actions":["create","delete"],"before":{"n":"old"},"after":{"n":"new"}`
	p := planOf(t, lowering.Sources{}, "", replace, replace)
	p.Succeeded(p.MatchCall(callOf(intercept.Create, nil, []string{"new"})))
	wantName(t, p.MatchCall(callOf(intercept.Delete, []string{"old"}, nil)), "one of x_y.a, x_y.b")
}

// A call that no change fits may have been any: nothing follows from its success.
func TestSuccessOfAnUnknownCall(t *testing.T) {
	t.Parallel()
	const replace = `"actions":["create","delete"],"before":{"n":"old"},"after":{"n":%q}`
	p := planOf(t, lowering.Sources{}, "", fmt.Sprintf(replace, "one"), fmt.Sprintf(replace, "two"))
	p.Succeeded(p.MatchCall(callOf(intercept.Create, nil, []string{"other"})))
	p.Succeeded(p.MatchCall(callOf(intercept.Create, nil, []string{"two"})))
	wantName(t, p.MatchCall(callOf(intercept.Delete, []string{"old"}, nil)), "one of x_y.a, x_y.b")
}

func TestLongNamesAreCut(t *testing.T) {
	t.Parallel()
	p := planOf(t, lowering.Sources{}, "", slices.Repeat([]string{`"actions":["create"],"before":null,"after":{"n":"x"}`}, 6)...)
	wantName(t, p.MatchCall(callOf(intercept.Create, nil, []string{"x"})), "one of x_y.a, x_y.b, x_y.c, x_y.d and 2 more")
}

// regions are the configurations of a provider that has a default block and an
// alias.
func regions(names ...string) (configs []cty.Value) {
	for _, name := range names {
		region := cty.NullVal(cty.String)
		if name != "" {
			region = cty.StringVal(name)
		}
		configs = append(configs, cty.ObjectVal(map[string]cty.Value{"region": region}))
	}
	return configs
}

// Equal objects in two regions are told apart by what their provider was
// configured with, once both are known.
func TestAliasesTellTwinsApart(t *testing.T) {
	t.Parallel()
	const create = `"actions":["create"],"before":null,"after":{"n":"x"}`
	const blocks = `,"configuration":{"provider_config":{"x":{"name":"x","full_name":"h/n/x"},
		"x.west":{"name":"x","full_name":"h/n/x","alias":"west","expressions":{"region":{"constant_value":"west"}}}},
		"root_module":{"resources":[{"mode":"managed","type":"x_y","name":"a","provider_config_key":"x"},
		{"mode":"managed","type":"x_y","name":"b","provider_config_key":"x.west"}]}}`
	both := "one of x_y.a, x_y.b"
	for _, c := range []struct {
		name        string
		given       []cty.Value
		through     string
		first, next string // what is sent through, and then through the default
	}{
		{"through the alias", regions("", "west"), "west", "x_y.b", "x_y.a"},
		{"through the default", regions("", "west"), "", "x_y.a", "x_y.a"},
		{"only one is known so far", regions("west"), "west", both, "x_y.a"},
		{"a third was given", regions("", "west", "north"), "west", both, "x_y.a"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := planOf(t, lowering.Sources{Configs: func(string) []cty.Value { return c.given }}, blocks, create, create)
			call := callOf(intercept.Create, nil, []string{"x"})
			call.ProviderConfig = regions(c.through)[0]
			wantName(t, p.MatchCall(call), c.first)
			if c.through != "" {
				call.ProviderConfig = regions("")[0]
				wantName(t, p.MatchCall(call), c.next)
			}
		})
	}
}

// What a plan says beside its changes.
func TestFactsOfAPlan(t *testing.T) {
	t.Parallel()
	const none, some = `"actions":["no-op"],"before":{},"after":{}`, `"actions":["forget"],"before":{},"after":null`
	for _, c := range []struct {
		change, more string
		want         bool
	}{
		{none, "", false},
		{some, "", true},
		{none, `,"output_changes":{"o":{"actions":["create"]}}`, true},
		{some, `,"applyable":false`, false},
		{none, `,"applyable":true,"timestamp":"2026-05-04T03:02:01Z"`, true},
	} {
		p := planOf(t, lowering.Sources{}, c.more, c.change)
		if p.Applyable != c.want {
			t.Errorf("%s%s: applyable is %v", c.change, c.more, p.Applyable)
		}
		if p.MadeAt.IsZero() == strings.Contains(c.more, "timestamp") {
			t.Errorf("%s: made at %v", c.more, p.MadeAt)
		}
	}
}

func TestPlansThatEndEarlyOrGoOn(t *testing.T) {
	t.Parallel()
	const good = `{"format_version":"1.2","planned_values":{"a":["\\\"]",{"b":1.5}]},"resource_changes":null}`
	if _, err := lowering.Read(t.Context(), []byte(good+"\n"), lowering.Sources{}); err != nil {
		t.Errorf("%s: %v", good, err)
	}
	for n := range len(good) {
		if _, err := lowering.Read(t.Context(), []byte(good[:n]), lowering.Sources{}); err == nil {
			t.Errorf("%s is taken for a plan", good[:n])
		}
	}
	for _, more := range []string{"{}", "x", ","} {
		if _, err := lowering.Read(t.Context(), []byte(good+more), lowering.Sources{}); err == nil {
			t.Errorf("%s is taken for a plan", good+more)
		}
	}
}
