// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package intercept

import (
	"errors"
	"math/big"
	"testing"

	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"
	ctymsgpack "github.com/zclconf/go-cty/cty/msgpack"
	"google.golang.org/protobuf/encoding/prototext"
)

// schemaText is a schema with every way to nest, in protocol 6.
const schemaText = `
version: 4
block {
  attributes { name: "id" type: "\"string\"" computed: true }
  attributes { name: "pin" type: "\"string\"" sensitive: true write_only: true }
  attributes { name: "opt" type: "[\"object\",{\"a\":\"string\",\"b\":\"number\"},[\"b\"]]" }
  attributes { name: "any" type: "\"dynamic\"" }
  attributes { name: "one" nested_type { nesting: SINGLE attributes { name: "key" type: "\"string\"" sensitive: true } } }
  attributes { name: "many" nested_type { nesting: LIST attributes { name: "key" type: "\"string\"" sensitive: true } } }
  attributes { name: "keyed" nested_type { nesting: MAP attributes { name: "n" type: "\"number\"" } } }
  attributes { name: "bag" nested_type { nesting: SET attributes { name: "n" type: "\"number\"" } } }
  block_types { type_name: "single" nesting: SINGLE block { attributes { name: "n" type: "\"number\"" } } }
  block_types { type_name: "group" nesting: GROUP block { attributes { name: "n" type: "\"number\"" } } }
  block_types { type_name: "list" nesting: LIST block {
    attributes { name: "token" type: "\"string\"" sensitive: true }
    block_types { type_name: "deep" nesting: SET block { attributes { name: "token" type: "\"string\"" sensitive: true } } }
  } }
  block_types { type_name: "map" nesting: MAP block { attributes { name: "n" type: "\"number\"" } } }
  block_types { type_name: "loose" nesting: LIST block { attributes { name: "v" type: "\"dynamic\"" } } }
  block_types { type_name: "loosemap" nesting: MAP block { attributes { name: "v" type: "\"dynamic\"" } } }
}`

func schemaMessage(t *testing.T, pkg, text string) message {
	t.Helper()
	m, err := newMessage(pkg, "Schema")
	if err != nil {
		t.Fatal(err)
	}
	if err := prototext.Unmarshal([]byte(text), m.Interface()); err != nil {
		t.Fatal(err)
	}
	return m
}

func obj(attrs map[string]cty.Type) cty.Type { return cty.Object(attrs) }

func TestBuildSchema(t *testing.T) {
	t.Parallel()
	schema, err := buildSchema(schemaMessage(t, "tfplugin6", schemaText))
	if err != nil {
		t.Fatal(err)
	}
	key, n := obj(map[string]cty.Type{"key": cty.String}), obj(map[string]cty.Type{"n": cty.Number})
	token := obj(map[string]cty.Type{"token": cty.String})
	want := obj(map[string]cty.Type{
		"id": cty.String, "pin": cty.String, "any": cty.DynamicPseudoType,
		"opt": obj(map[string]cty.Type{"a": cty.String, "b": cty.Number}),
		"one": key, "many": cty.List(key), "keyed": cty.Map(n), "bag": cty.Set(n),
		"single": n, "group": n, "map": cty.Map(n),
		"list":  cty.List(obj(map[string]cty.Type{"token": cty.String, "deep": cty.Set(token)})),
		"loose": cty.DynamicPseudoType, "loosemap": cty.DynamicPseudoType,
	})
	if !schema.Type.Equals(want) {
		t.Errorf("type is %#v, want %#v", schema.Type, want)
	}
	if schema.Version != 4 {
		t.Errorf("version is %d", schema.Version)
	}
	zero, name := cty.NumberIntVal(0), cty.StringVal("k")
	for _, test := range []struct {
		path                 cty.Path
		sensitive, writeOnly bool
	}{
		{cty.GetAttrPath("id"), false, false},
		{cty.GetAttrPath("pin"), true, true},
		{cty.GetAttrPath("one"), false, false},
		{cty.GetAttrPath("one").GetAttr("key"), true, false},
		{cty.GetAttrPath("many").Index(zero).GetAttr("key"), true, false},
		{cty.GetAttrPath("many").Index(zero), false, false},
		{cty.GetAttrPath("keyed").Index(name).GetAttr("n"), false, false},
		{cty.GetAttrPath("list").Index(zero).GetAttr("token"), true, false},
		{cty.GetAttrPath("list").Index(zero).GetAttr("deep").Index(cty.DynamicVal).GetAttr("token"), true, false},
		{cty.GetAttrPath("pin").Index(zero), true, true},
		{cty.Path{}, false, false},
	} {
		if s, w := schema.IsSensitive(test.path), schema.IsWriteOnly(test.path); s != test.sensitive || w != test.writeOnly {
			t.Errorf("%#v: sensitive %v, write-only %v", test.path, s, w)
		}
	}
}

func TestBuildSchemaOfProtocol5(t *testing.T) {
	t.Parallel()
	schema, err := buildSchema(schemaMessage(t, "tfplugin5", `block {
  attributes { name: "id" type: "\"string\"" sensitive: true }
  block_types { type_name: "list" nesting: LIST block { attributes { name: "n" type: "\"number\"" } } }
}`))
	if err != nil {
		t.Fatal(err)
	}
	want := obj(map[string]cty.Type{"id": cty.String, "list": cty.List(obj(map[string]cty.Type{"n": cty.Number}))})
	if !schema.Type.Equals(want) || !schema.IsSensitive(cty.GetAttrPath("id")) {
		t.Errorf("schema is %+v", schema)
	}
}

func TestBuildSchemaErrors(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"bad type":       `block { attributes { name: "a" type: "nonsense" } }`,
		"no type":        `block { attributes { name: "a" } }`,
		"no nesting":     `block { block_types { type_name: "b" block {} } }`,
		"no block":       `block { block_types { type_name: "b" nesting: LIST } }`,
		"object nesting": `block { attributes { name: "a" nested_type { nesting: INVALID } } }`,
		"future nesting": `block { block_types { type_name: "b" nesting: 77 block {} } }`,
	} {
		if _, err := buildSchema(schemaMessage(t, "tfplugin6", text)); !errors.Is(err, errNotUnderstood) {
			t.Errorf("%s: got error %v", name, err)
		}
	}
}

func TestIndexSchemas(t *testing.T) {
	t.Parallel()
	for _, pkg := range []string{"tfplugin5", "tfplugin6"} {
		m, err := newMessage(pkg, "GetProviderSchema.Response")
		if err != nil {
			t.Fatal(err)
		}
		text := `
provider { block { attributes { name: "region" type: "\"string\"" } } }
resource_schemas { key: "x_a" value { version: 2 block { attributes { name: "id" type: "\"string\"" } } } }
resource_schemas { key: "x_b" value { } }
data_source_schemas { key: "x_c" value { version: 9 } }
server_capabilities { plan_destroy: true }
diagnostics { severity: WARNING summary: "old" }`
		if err := prototext.Unmarshal([]byte(text), m.Interface()); err != nil {
			t.Fatal(err)
		}
		answer, err := m.encode()
		if err != nil {
			t.Fatal(err)
		}
		index, err := indexSchemas(pkg, answer)
		if err != nil || index.failure != "" || len(index.resources) != 2 {
			t.Fatalf("index is %+v, %v", index, err)
		}
		a, err := index.schema(index.resources["x_a"])
		if err != nil || a.Version != 2 || !a.Type.HasAttribute("id") {
			t.Errorf("schema is %+v, %v", a, err)
		}
		if b, err := index.schema(index.resources["x_b"]); err != nil || !b.Type.Equals(cty.EmptyObject) {
			t.Errorf("schema is %+v, %v", b, err)
		}
		if config, err := index.schema(index.config); err != nil || !config.Type.HasAttribute("region") {
			t.Errorf("schema is %+v, %v", config, err)
		}

		m.add("diagnostics").setText("summary", "broken")
		if answer, err = m.encode(); err != nil {
			t.Fatal(err)
		}
		if index, err := indexSchemas(pkg, answer); err != nil || index.failure != "broken" {
			t.Errorf("index is %+v, %v", index, err)
		}
		if _, err := indexSchemas(pkg, &frame{data: answer.data[:len(answer.data)-3]}); !errors.Is(err, errNotUnderstood) {
			t.Errorf("a cut answer: %v", err)
		}
	}
}

func TestDecodeDynamic(t *testing.T) {
	t.Parallel()
	ty := obj(map[string]cty.Type{"s": cty.String, "n": cty.Number, "any": cty.DynamicPseudoType})
	value := cty.ObjectVal(map[string]cty.Value{
		"s": cty.UnknownVal(cty.String), "n": cty.NumberVal(big.NewFloat(1.5)), "any": cty.TupleVal([]cty.Value{cty.True}),
	})
	packed, err := ctymsgpack.Marshal(value, ty)
	if err != nil {
		t.Fatal(err)
	}
	known := cty.ObjectVal(map[string]cty.Value{"s": cty.StringVal("x"), "n": cty.Zero, "any": cty.NullVal(cty.DynamicPseudoType)})
	text, err := ctyjson.Marshal(known, ty)
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		field string
		data  []byte
		want  cty.Value
	}{
		"msgpack": {"msgpack", packed, value},
		"json":    {"json", text, known},
		"null":    {"msgpack", []byte{0xc0}, cty.NullVal(ty)},
		"empty":   {"msgpack", nil, cty.NullVal(ty)},
	} {
		dynamic, err := newMessage("tfplugin6", "DynamicValue")
		if err != nil {
			t.Fatal(err)
		}
		dynamic.setBytes(test.field, test.data)
		got, err := decodeDynamic(dynamic, ty)
		if err != nil || !got.RawEquals(test.want) {
			t.Errorf("%s: got %#v, %v", name, got, err)
		}
	}
}

func FuzzDecodeDynamic(f *testing.F) {
	f.Add([]byte{0xc0})
	f.Add([]byte{0x81, 0xa1, 's', 0xa1, 'x'})
	ty := cty.Object(map[string]cty.Type{
		"s": cty.String, "m": cty.Map(cty.DynamicPseudoType), "l": cty.List(cty.Object(map[string]cty.Type{"v": cty.DynamicPseudoType})),
	})
	f.Fuzz(func(t *testing.T, data []byte) {
		dynamic, err := newMessage("tfplugin6", "DynamicValue")
		if err != nil {
			t.Fatal(err)
		}
		dynamic.setBytes("msgpack", data)
		if value, err := decodeDynamic(dynamic, ty); err == nil && value == cty.NilVal {
			t.Error("neither value nor error")
		}
	})
}

// A refusal of a later protocol's request keeps what this program can read,
// and the identity of the object.
func TestRefusalKeepsIdentity(t *testing.T) {
	t.Parallel()
	r := newRig(t, 6, &testGate{}, 0, nil)
	c := r.dial()
	made := thing{value: c.thing(map[string]cty.Value{"id": cty.StringVal("x"), "name": cty.StringVal("x")})}
	ty := cty.Object(map[string]cty.Type{"id": cty.String})
	identity, err := newMessage("tfplugin6", "ResourceIdentityData")
	if err != nil {
		t.Fatal(err)
	}
	c.setValue(identity, "identity_data", cty.ObjectVal(map[string]cty.Value{"id": cty.StringVal("x")}), ty)
	plan, err := newMessage("tfplugin6", "PlanResourceChange.Request")
	if err != nil {
		t.Fatal(err)
	}
	plan.setText("type_name", "fixture_thing")
	c.setValue(plan, "prior_state", made.value, c.thingType())
	plan.setSub("prior_identity", identity)
	planned, err := newMessage("tfplugin6", "PlanResourceChange.Response")
	if err != nil {
		t.Fatal(err)
	}
	plans := r.host.providers[0].plans
	plans.remember(plan, planned)
	answer, err := newMessage("tfplugin6", "ApplyResourceChange.Response")
	if err != nil {
		t.Fatal(err)
	}
	remove := c.applyRequest(change{prior: made, config: c.nothing().value, planned: c.nothing().value})
	x := &exchange{conn: newConn(r.host.providers[0])}
	x.restore(remove, answer)
	given, _ := answer.sub("new_identity")
	if given.Message == nil {
		t.Fatal("identity is not given back")
	}
	if value, err := given.value("identity_data", ty); err != nil || value.GetAttr("id").AsString() != "x" {
		t.Errorf("identity is %#v, %v", value, err)
	}
	if got := plans.recall(c.applyRequest(change{prior: c.nothing(), config: made.value, planned: made.value, plannedPrivate: []byte("p")})); got.private != nil {
		t.Errorf("an object that does not exist has private data %q", got.private)
	}
}

// The decoder panics over a list whose elements differ in type.
func TestDecodeDynamicInconsistent(t *testing.T) {
	t.Parallel()
	dynamic, err := newMessage("tfplugin6", "DynamicValue")
	if err != nil {
		t.Fatal(err)
	}
	dynamic.setBytes("json", []byte(`[{"v":{"type":"string","value":"x"}},{"v":{"type":"number","value":1}}]`))
	ty := cty.List(obj(map[string]cty.Type{"v": cty.DynamicPseudoType}))
	if value, err := decodeDynamic(dynamic, ty); err == nil {
		t.Errorf("got %#v", value)
	}
}
