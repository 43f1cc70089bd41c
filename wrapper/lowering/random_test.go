// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package lowering_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/wrapper/intercept"
	"github.com/tfweaver/tfweaver/wrapper/lowering"
	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"
	"github.com/zclconf/go-cty/cty/msgpack"
)

// randomType is a resource with an attribute of each kind. Blocks are lists and
// sets of objects in the protocol.
func randomType() cty.Type {
	rule := cty.Object(map[string]cty.Type{"port": cty.Number, "token": cty.String})
	return cty.Object(map[string]cty.Type{
		"id": cty.String, "name": cty.String, "ref": cty.String, "size": cty.Number, "on": cty.Bool, "password": cty.String,
		"tags": cty.Map(cty.String), "zones": cty.Set(cty.String), "rule": cty.List(rule), "peer": cty.Set(rule), "free": cty.DynamicPseudoType,
	})
}

// draw makes random values from few, so that many are alike.
type draw struct{ *rand.Rand }

// state is an object; with open, parts of it are unknown.
func (d draw) state(open bool) cty.Value {
	attrs := map[string]cty.Value{"password": cty.NullVal(cty.String)} // write-only
	for name, ty := range randomType().AttributeTypes() {
		if name != "password" {
			attrs[name] = d.value(ty, open)
		}
	}
	return cty.ObjectVal(attrs)
}

func (d draw) value(ty cty.Type, open bool) cty.Value {
	switch {
	case open && d.IntN(4) == 0:
		return cty.UnknownVal(ty)
	case ty == cty.DynamicPseudoType:
		return d.value([]cty.Type{cty.String, cty.Number, cty.List(cty.String), cty.Map(cty.Bool)}[d.IntN(4)], open)
	case d.IntN(4) == 0 && !ty.IsCollectionType():
		return cty.NullVal(ty)
	case ty == cty.String:
		return cty.StringVal([]string{"", "a", "b", `ü "q"`}[d.IntN(4)])
	case ty == cty.Number:
		return d.number()
	case ty == cty.Bool:
		return cty.BoolVal(d.IntN(2) == 0)
	case ty.IsObjectType():
		attrs := map[string]cty.Value{}
		for name, attr := range ty.AttributeTypes() {
			attrs[name] = d.value(attr, open)
		}
		return cty.ObjectVal(attrs)
	default:
		return d.collection(ty, open)
	}
}

// number is one of those that are written in several ways.
func (d draw) number() cty.Value {
	switch d.IntN(5) {
	case 0:
		return cty.NumberIntVal(1)
	case 1:
		return cty.MustParseNumberVal("1.0")
	case 2:
		return cty.NumberFloatVal(0.1) // as a provider has it
	case 3:
		return cty.MustParseNumberVal("0.1") // as the language has it
	default:
		return cty.MustParseNumberVal("9007199254740993")
	}
}

func (d draw) collection(ty cty.Type, open bool) cty.Value {
	var list []cty.Value
	for range d.IntN(3) {
		list = append(list, d.value(ty.ElementType(), open))
	}
	switch {
	case ty.IsMapType() && len(list) == 0:
		return cty.MapValEmpty(ty.ElementType())
	case ty.IsMapType():
		elements := map[string]cty.Value{}
		for i, v := range list {
			elements[string(rune('k'+i))] = v
		}
		return cty.MapVal(elements)
	case ty.IsSetType() && len(list) == 0:
		return cty.SetValEmpty(ty.ElementType())
	case ty.IsSetType():
		return cty.SetVal(list)
	case len(list) == 0:
		return cty.ListValEmpty(ty.ElementType())
	default:
		return cty.ListVal(list)
	}
}

// later is what the apply walk plans where the plan walk planned this: some of
// what was unknown is known by then.
func (d draw) later(planned cty.Value) cty.Value {
	v, _ := cty.Transform(planned, func(_ cty.Path, v cty.Value) (cty.Value, error) {
		if v.IsKnown() || d.IntN(2) == 0 {
			return v, nil
		}
		known := d.value(v.Type(), false)
		return known, nil
	})
	return v
}

// written are a value and its marks as the CLI writes them in a plan. It leaves
// out what is unknown, but writes null for an element of a sequence.
func written(v cty.Value) (plain, unknown any) {
	switch {
	case !v.IsKnown():
		return nil, true
	case v.IsNull():
		return nil, false
	case v.Type().IsPrimitiveType():
		text, _ := ctyjson.Marshal(v, v.Type())
		return json.RawMessage(text), false
	case v.Type().IsObjectType() || v.Type().IsMapType():
		values, marks := map[string]any{}, map[string]any{}
		for name, x := range v.AsValueMap() {
			p, u := written(x)
			if u != true {
				values[name] = p
			}
			if u != false {
				marks[name] = u
			}
		}
		return values, marks
	default:
		values, marks := []any{}, []any{}
		for _, x := range v.AsValueSlice() {
			p, u := written(x)
			values, marks = append(values, p), append(marks, u)
		}
		return values, marks
	}
}

// planned is one call of a random plan, as it will be sent.
type planned struct {
	id      admission.CallID
	address string
	call    intercept.Call
}

// plan is a random plan in JSON and its calls.
func (d draw) plan() (src []byte, calls []planned) {
	var list []any
	for i := range 1 + d.IntN(12) {
		address := fmt.Sprintf("x_y.a[%d]", i)
		actions := [][]string{{"create"}, {"update"}, {"delete"}, {"delete", "create"}, {"create", "delete"}}[d.IntN(5)]
		before, after := d.state(false), d.state(true)
		change := map[string]any{"actions": actions, "before": nil, "after": nil, "after_sensitive": map[string]any{"tags": true}}
		if actions[0] != "create" || len(actions) > 1 {
			change["before"], _ = written(before)
		}
		if len(actions) > 1 || actions[0] != "delete" {
			change["after"], change["after_unknown"] = written(after)
		}
		list = append(list, map[string]any{
			"address": address, "mode": "managed", "type": "x_y", "name": "a", "index": i, "provider_name": "h/n/x", "change": change,
		})
		for _, action := range actions {
			calls = append(calls, planned{admission.CallID(action + " " + address), address, d.call(action, before, after)})
		}
	}
	src, _ = json.Marshal(map[string]any{"format_version": "1.2", "planned_values": map[string]any{"x": []any{`}"`}}, "resource_changes": list})
	return src, calls
}

// call is what the proxy decodes of a call: values that have crossed the wire.
func (d draw) call(action string, before, after cty.Value) intercept.Call {
	null := cty.NullVal(randomType())
	c := intercept.Call{Provider: "h/n/x", Type: "x_y", Action: intercept.Action(action), Prior: wire(before), Planned: wire(d.later(after))}
	switch action {
	case "create":
		c.Prior = null
	case "delete":
		c.Planned = null
	}
	return c
}

func wire(v cty.Value) cty.Value {
	data, err := msgpack.Marshal(v, randomType())
	if err != nil {
		panic(err) // the test's own values
	}
	back, err := msgpack.Unmarshal(data, randomType())
	if err != nil {
		panic(err)
	}
	return back
}

// TestNoCallIsEverGivenAWrongAddress: of random plans, every call finds the
// change that it belongs to among those that it is given, whichever calls came
// before and ended well; where it is given one alone, that is the one.
func TestNoCallIsEverGivenAWrongAddress(t *testing.T) {
	t.Parallel()
	schema := func(context.Context, string, string) (*intercept.Schema, error) {
		return &intercept.Schema{Type: randomType(), Sensitive: cty.NewPathSet(cty.GetAttrPath("password"))}, nil
	}
	certain, all := 0, 0
	for seed := range uint64(600) {
		d := draw{rand.New(rand.NewPCG(seed, 7))}
		src, calls := d.plan()
		from := lowering.Sources{Schema: schema}
		if seed%3 == 0 {
			from.Schema = nil // as for a provider that was not proxied yet
		}
		p, err := lowering.Read(t.Context(), src, from)
		if err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, src)
		}
		for _, c := range running(d, calls) {
			m := p.MatchCall(c.call)
			if !slices.Contains(m.Among(), c.id) {
				t.Fatalf("seed %d: %s is given %v\nplan %s\nplanned %#v", seed, c.id, m.Among(), src, c.call.Planned)
			}
			if m.Certain() && m.Name() != c.address || !m.Certain() && !strings.HasPrefix(m.Name(), "one of ") {
				t.Fatalf("seed %d: %s is called %q", seed, c.id, m.Name())
			}
			if m.Certain() {
				certain++
			}
			all++
			p.Succeeded(m)
		}
	}
	if certain < all/2 {
		t.Errorf("%d of %d calls are certain: hardly any is told apart", certain, all)
	}
}

// running are calls in an order in which they may run: at random, but the halves
// of a replace follow each other.
func running(d draw, calls []planned) []planned {
	mixed := slices.Clone(calls)
	d.Shuffle(len(mixed), func(i, j int) { mixed[i], mixed[j] = mixed[j], mixed[i] })
	rank := map[admission.CallID]int{}
	for i, c := range calls {
		rank[c.id] = i
	}
	for i := range mixed {
		for j := range mixed[:i] {
			if mixed[i].address == mixed[j].address && rank[mixed[i].id] < rank[mixed[j].id] {
				mixed[i], mixed[j] = mixed[j], mixed[i]
			}
		}
	}
	return mixed
}
