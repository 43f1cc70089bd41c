// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package rules_test

import (
	"testing"

	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/ruleengine"
	"github.com/tfweaver/tfweaver/internal/ruleengine/ruletest"
	"github.com/zclconf/go-cty/cty"
	"pgregory.net/rapid"
)

// anything draws an attribute: what providers send, and what they should not.
func anything(t *rapid.T, name string) cty.Value {
	id := rapid.SampledFrom([]string{
		groupID, networkID, networkID + "/subnets/a", nsgID + "w", pipID + "p", nicID + "n", diskID + "d", functionID + "f", attachmentID + "t", networkID + "/subnets/",
		"/subscriptions//resourceGroups/x", "/", "", "a", "~life", "a/~b", "\x00", "é/ü",
	})
	switch rapid.IntRange(0, 9).Draw(t, name+" kind") {
	case 0:
		return cty.UnknownVal(cty.String)
	case 1:
		return cty.NullVal(cty.String)
	case 2:
		return cty.DynamicVal
	case 3:
		return cty.NumberIntVal(rapid.Int64().Draw(t, name))
	case 4:
		return cty.TupleVal([]cty.Value{cty.StringVal(id.Draw(t, name)), cty.UnknownVal(cty.String), cty.EmptyObjectVal})
	case 5:
		return cty.StringVal(rapid.String().Draw(t, name))
	default:
		return cty.StringVal(id.Draw(t, name))
	}
}

func anyState(t *rapid.T, resourceType, which string) cty.Value {
	switch rapid.IntRange(0, 9).Draw(t, which+" form") {
	case 0:
		return cty.NilVal
	case 1:
		return cty.DynamicVal
	case 2:
		return cty.StringVal("no state")
	}
	attrs := map[string]cty.Value{}
	for _, name := range attributes(resourceType) {
		attrs[name] = anything(t, which+" "+name)
	}
	return cty.ObjectVal(attrs)
}

// TestAnyValuesAreTakenOrRefused lowers operations on arbitrary values. A rule
// may fail on them; what it does not fail on is a request that a coordinator
// takes.
func TestAnyValuesAreTakenOrRefused(t *testing.T) {
	t.Parallel()
	e := load(t)
	types := e.Packs()[0].Types
	rapid.Check(t, func(t *rapid.T) {
		resourceType := rapid.SampledFrom(types).Draw(t, "type")
		op := ruleengine.Operation{
			Provider: source, ProviderConfig: config(), Type: resourceType,
			Action: rapid.SampledFrom([]admission.Action{admission.Create, admission.Update, admission.Delete, admission.Read}).Draw(t, "action"),
			Prior:  anyState(t, resourceType, "prior"), Planned: anyState(t, resourceType, "planned"),
			Sensitive: cty.NewPathSet(),
		}
		for _, name := range attributes(resourceType) {
			if rapid.IntRange(0, 4).Draw(t, name+" sensitive") == 0 {
				op.Sensitive.Add(cty.GetAttrPath(name))
			}
		}
		if l, err := e.Lower(t.Context(), op, associated()); err == nil {
			if wrong := ruletest.Check(l); wrong != "" {
				t.Fatalf("%s\n%+v", wrong, l.Request)
			}
		}
		o := ruleengine.Object{Provider: source, ProviderConfig: config(), Type: resourceType, State: op.Prior, Sensitive: op.Sensitive}
		if _, ok, err := e.See(o); ok && err != nil {
			t.Fatalf("seen with an error: %v", err)
		}
	})
}
