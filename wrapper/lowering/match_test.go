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
	"github.com/tfweaver/tfweaver/wrapper/intercept"
	"github.com/tfweaver/tfweaver/wrapper/lowering"
	"github.com/zclconf/go-cty/cty"
)

// Every call of every plan finds its own change, in whatever order they come;
// instances that differ in nothing are named together.
func TestEveryCallFindsItsChange(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"create.json", "change.json", "deposed.json"} {
		p := read(t, name)
		ops := p.Operations()
		for i := range ops {
			op := ops[len(ops)-1-i]
			m := p.MatchCall(sent(op, stays))
			if m.Name() != op.Address && !(twin(op.Address) && twin(m.Address) && slices.Contains(m.Addresses(), op.Address)) {
				t.Errorf("%s: %s of %s was taken for %q", name, op.Action, op.Address, m.Name())
			}
		}
		for _, op := range ops {
			if m := p.MatchCall(sent(op, stays)); m.ID != "" {
				t.Errorf("%s: a second %s of %s was taken for %q", name, op.Action, op.Address, m.ID)
			}
		}
	}
}

// twin says whether an address is of those that are created with equal values,
// or of the one that may turn out to be like them.
func twin(address string) bool {
	return strings.HasPrefix(address, "terraform_data.twin") || address == "terraform_data.dependent"
}

func TestUnknownValuesOfThePlanFitAnything(t *testing.T) {
	t.Parallel()
	p := read(t, "create.json")
	op := find(t, p, "simcloud_network_interface.n[1]", admission.Create)
	call := sent(op, func(path cty.Path) cty.Value { return cty.StringVal(fmt.Sprintf("%d steps", len(path))) })
	if got := p.MatchCall(call).Name(); got != op.Address {
		t.Errorf("matched %q", got)
	}
}

// The forecast guesses ids of objects to come; a guess must not keep a call
// from its change.
func TestAGuessedReferenceFitsAnything(t *testing.T) {
	t.Parallel()
	p := read(t, "create.json")
	op := find(t, p, "simcloud_network_interface.n[1]", admission.Create)
	attrs := op.Planned.AsValueMap()
	attrs["subnet_id"] = cty.StringVal("/another")
	op.Planned = cty.ObjectVal(attrs)
	if got := p.MatchCall(sent(op, stays)).Name(); got != "simcloud_network_interface.n[1]" {
		t.Errorf("matched %q", got)
	}
}

// The dependent's input was left open in the plan, so it may be any input; the
// twins, which foresaw it, go first. Which of them it is nobody can tell, whatever
// was matched before.
func TestTwinsAreTakenInOrder(t *testing.T) {
	t.Parallel()
	p := read(t, "create.json")
	call := sent(find(t, p, "terraform_data.twin[1]", admission.Create), stays)
	all := []string{"terraform_data.dependent", "terraform_data.twin[0]", "terraform_data.twin[1]"}
	for _, want := range []string{"terraform_data.twin[0]", "terraform_data.twin[1]", "terraform_data.dependent", ""} {
		m := p.MatchCall(call)
		if m.Address != want {
			t.Errorf("taken for %q, want %q", m.Address, want)
		}
		if diff := cmp.Diff(all, m.Addresses()); diff != "" {
			t.Errorf("candidates (-want +got):\n%s", diff)
		}
	}
}

// Associations are made of references only, none of which the plan knew: what
// the rules know of the ids tells them apart.
func TestGuessedReferencesTellTwinsApart(t *testing.T) {
	t.Parallel()
	p := read(t, "create.json")
	address := `simcloud_subnet_network_security_group_association.s["b"]`
	if got := p.MatchCall(sent(find(t, p, address, admission.Create), stays)).Name(); got != address {
		t.Errorf("matched %q", got)
	}
}

func TestOtherCallsHaveNoChange(t *testing.T) {
	t.Parallel()
	change := func(edit func(*intercept.Call)) string {
		p := read(t, "change.json")
		call := sent(find(t, p, `simcloud_subnet.s["a"]`, admission.Update), stays)
		edit(&call)
		return p.MatchCall(call).Name()
	}
	set := func(v cty.Value, name, text string) cty.Value {
		attrs := v.AsValueMap()
		attrs[name] = cty.StringVal(text)
		return cty.ObjectVal(attrs)
	}
	if got := change(func(*intercept.Call) {}); got != `simcloud_subnet.s["a"]` {
		t.Fatalf("the unchanged call matched %q", got)
	}
	for name, edit := range map[string]func(*intercept.Call){
		"another provider": func(c *intercept.Call) { c.Provider = "registry.opentofu.org/tfweaver/simcloud" },
		"another type":     func(c *intercept.Call) { c.Type = "simcloud_virtual_network" },
		"another action":   func(c *intercept.Call) { c.Action, c.Planned = intercept.Delete, cty.NullVal(c.Planned.Type()) },
		"another object":   func(c *intercept.Call) { c.Prior = set(c.Prior, "id", "/else") },
		"no state":         func(c *intercept.Call) { c.Prior, c.Planned = cty.NilVal, cty.NilVal },
	} {
		if got := change(edit); got != "" {
			t.Errorf("%s: matched %q", name, got)
		}
	}
}

// A provider may have refreshed an attribute since: the id still tells.
func TestTheIDTellsWhenValuesDiffer(t *testing.T) {
	t.Parallel()
	p := read(t, "change.json")
	call := sent(find(t, p, `simcloud_subnet.s["b"]`, admission.Update), stays)
	attrs := call.Prior.AsValueMap()
	attrs["address_prefix"] = cty.StringVal("10.9.0.0/24")
	call.Prior = cty.ObjectVal(attrs)
	if got := p.MatchCall(call).Name(); got != `simcloud_subnet.s["b"]` {
		t.Errorf("matched %q", got)
	}
}

func TestSetsWithUnknownElements(t *testing.T) {
	t.Parallel()
	src := `{"format_version":"1.2","resource_changes":[{"address":"x_y.a","mode":"managed","type":"x_y","provider_name":"h/n/x",
		"change":{"actions":["create"],"before":null,"after":{"s":["a",null]},"after_unknown":{"s":[false,true]}}}]}`
	set := func(texts ...string) intercept.Call {
		var values []cty.Value
		for _, s := range texts {
			values = append(values, cty.StringVal(s))
		}
		return intercept.Call{
			Provider: "h/n/x", Type: "x_y", Action: intercept.Create, Prior: cty.NullVal(cty.DynamicPseudoType),
			Planned: cty.ObjectVal(map[string]cty.Value{"s": cty.SetVal(values)}),
		}
	}
	for _, c := range []struct {
		call intercept.Call
		want string
	}{{set("z", "a"), "x_y.a"}, {set("a"), "x_y.a"}, {set("b", "c"), ""}, {set("a", "b", "c"), ""}} {
		p, err := lowering.Read(t.Context(), []byte(src), lowering.Sources{})
		if err != nil {
			t.Fatal(err)
		}
		if got := p.MatchCall(c.call).Name(); got != c.want {
			t.Errorf("%#v matched %q, want %q", c.call.Planned, got, c.want)
		}
	}
}

// A plan read without a schema leaves out what is not set.
func TestAttributesThatOnlyOneSideHas(t *testing.T) {
	t.Parallel()
	src := `{"format_version":"1.2","resource_changes":[{"address":"x_y.a","mode":"managed","type":"x_y","provider_name":"h/n/x",
		"change":{"actions":["create"],"before":null,"after":{"n":1,"gone":null}}}]}`
	for want, extra := range map[string]cty.Value{"x_y.a": cty.NullVal(cty.Bool), "": cty.True} {
		p, err := lowering.Read(t.Context(), []byte(src), lowering.Sources{})
		if err != nil {
			t.Fatal(err)
		}
		call := intercept.Call{
			Provider: "h/n/x", Type: "x_y", Action: intercept.Create,
			Planned: cty.ObjectVal(map[string]cty.Value{"n": cty.NumberIntVal(1), "extra": extra}),
		}
		if got := p.MatchCall(call).Name(); got != want {
			t.Errorf("with extra = %#v: matched %q, want %q", extra, got, want)
		}
	}
}

func TestOperationOfACall(t *testing.T) {
	t.Parallel()
	secret := cty.NewPathSet(cty.GetAttrPath("password"))
	call := intercept.Call{
		Provider: "h/n/x", Type: "x_y", Action: intercept.Update,
		Prior: cty.EmptyObjectVal, Planned: cty.EmptyObjectVal, ProviderConfig: mainConfig(),
		Schema: &intercept.Schema{Sensitive: secret},
	}
	op := lowering.Operation(call, "x_y.a")
	if op.Address != "x_y.a" || op.Action != admission.Update || !op.ProviderConfig.RawEquals(mainConfig()) || !op.Sensitive.Equal(secret) {
		t.Errorf("operation = %#v", op)
	}
	call.Schema = nil
	if op := lowering.Operation(call, ""); !op.Sensitive.Empty() {
		t.Errorf("sensitive without a schema = %#v", op.Sensitive)
	}
}
