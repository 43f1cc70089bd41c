// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package intercept

import (
	"context"
	"testing"

	"github.com/zclconf/go-cty/cty"
	ctymsgpack "github.com/zclconf/go-cty/cty/msgpack"
)

// name returns the name that a method has in the connection's protocol.
func (c *cli) name(method string) string {
	if c.protocol == 6 {
		return method
	}
	switch method {
	case "GetProviderSchema":
		return "GetSchema"
	case "ConfigureProvider":
		return "Configure"
	case "StopProvider":
		return "Stop"
	case "ValidateResourceConfig":
		return "ValidateResourceTypeConfig"
	default:
		return method
	}
}

// messageName is name for the messages, which differ in one case.
func (c *cli) messageName(method string) string {
	if method == "GetProviderSchema" {
		return method
	}
	return c.name(method)
}

func (c *cli) request(method string) message {
	c.t.Helper()
	m, err := newMessage(c.pkg, c.messageName(method)+".Request")
	if err != nil {
		c.t.Fatal(err)
	}
	return m
}

// call makes a call with ordinary protobuf messages, as the CLI does.
func (c *cli) call(ctx context.Context, method string, request message) (message, error) {
	c.t.Helper()
	response, err := newMessage(c.pkg, c.messageName(method)+".Response")
	if err != nil {
		c.t.Fatal(err)
	}
	err = c.conn.Invoke(ctx, "/"+c.pkg+".Provider/"+c.name(method), request.Interface(), response.Interface())
	return response, err
}

func (c *cli) mustCall(method string, request message) message {
	c.t.Helper()
	response, err := c.call(c.t.Context(), method, request)
	if err != nil {
		c.t.Fatalf("%s: %v", method, err)
	}
	return response
}

// setValue sets a DynamicValue field.
func (c *cli) setValue(m message, field string, value cty.Value, ty cty.Type) {
	c.t.Helper()
	dynamic, err := newMessage(c.pkg, "DynamicValue")
	if err != nil {
		c.t.Fatal(err)
	}
	data, err := ctymsgpack.Marshal(value, ty)
	if err != nil {
		c.t.Fatal(err)
	}
	dynamic.setBytes("msgpack", data)
	m.setSub(field, dynamic)
}

var configType = cty.Object(map[string]cty.Type{
	"region": cty.String, "key": cty.String, "reject": cty.Bool, "crash": cty.Bool,
})

// object returns an object of a type in which all is null but what is given.
func object(ty cty.Type, given map[string]cty.Value) cty.Value {
	attrs := map[string]cty.Value{}
	for name, at := range ty.AttributeTypes() {
		switch v, ok := given[name]; {
		case ok:
			attrs[name] = v
		case at.IsListType():
			attrs[name] = cty.ListValEmpty(at.ElementType())
		default:
			attrs[name] = cty.NullVal(at)
		}
	}
	return cty.ObjectVal(attrs)
}

func (c *cli) configureRequest(given map[string]cty.Value) message {
	c.t.Helper()
	request := c.request("ConfigureProvider")
	request.setText("terraform_version", "1.11.4")
	c.setValue(request, "config", object(configType, given), configType)
	return request
}

func (c *cli) configure(region string) *cli {
	c.t.Helper()
	response := c.mustCall("ConfigureProvider", c.configureRequest(map[string]cty.Value{
		"region": cty.StringVal(region), "key": cty.StringVal("s3cr3t-key"),
	}))
	if response.failed() {
		c.t.Fatalf("configure: %v", response.diagnostics())
	}
	return c
}

// thing is an object of fixture_thing with what the CLI keeps beside it.
type thing struct {
	value   cty.Value
	private []byte
}

func (c *cli) thingType() cty.Type {
	c.t.Helper()
	schema, err := c.host.Schema(c.t.Context(), "registry.example.com/plugintest/fixture", "fixture_thing")
	if err != nil {
		c.t.Fatal(err)
	}
	return schema.Type
}

func (c *cli) thing(given map[string]cty.Value) cty.Value { return object(c.thingType(), given) }

// change is one change of a thing on its way through plan and apply.
type change struct {
	prior           thing
	config, planned cty.Value
	plannedPrivate  []byte
}

// plan plans a change as the CLI does; a null config is a delete.
func (c *cli) plan(prior thing, config cty.Value) change {
	c.t.Helper()
	ty := c.thingType()
	request := c.request("PlanResourceChange")
	request.setText("type_name", "fixture_thing")
	c.setValue(request, "prior_state", prior.value, ty)
	c.setValue(request, "config", config, ty)
	c.setValue(request, "proposed_new_state", proposed(prior.value, config), ty)
	request.setBytes("prior_private", prior.private)
	response := c.mustCall("PlanResourceChange", request)
	if response.failed() {
		c.t.Fatalf("plan: %v", response.diagnostics())
	}
	planned, err := response.value("planned_state", ty)
	if err != nil {
		c.t.Fatal(err)
	}
	return change{prior: prior, config: config, planned: planned, plannedPrivate: response.bytes("planned_private")}
}

// proposed keeps the computed id of the prior object.
func proposed(prior, config cty.Value) cty.Value {
	if config.IsNull() || prior.IsNull() {
		return config
	}
	attrs := config.AsValueMap()
	attrs["id"] = prior.GetAttr("id")
	return cty.ObjectVal(attrs)
}

func (c *cli) applyRequest(ch change) message {
	c.t.Helper()
	ty := c.thingType()
	request := c.request("ApplyResourceChange")
	request.setText("type_name", "fixture_thing")
	c.setValue(request, "prior_state", ch.prior.value, ty)
	c.setValue(request, "planned_state", ch.planned, ty)
	c.setValue(request, "config", ch.config, ty)
	request.setBytes("planned_private", ch.plannedPrivate)
	return request
}

// apply applies a change and returns the object after it.
func (c *cli) apply(ch change) (thing, message) {
	c.t.Helper()
	response := c.mustCall("ApplyResourceChange", c.applyRequest(ch))
	state, err := response.value("new_state", c.thingType())
	if err != nil {
		c.t.Fatal(err)
	}
	return thing{value: state, private: response.bytes("private")}, response
}

// applyLater applies a change in the background.
func (c *cli) applyLater(ctx context.Context, ch change) chan error {
	request := c.applyRequest(ch)
	result := make(chan error, 1)
	go func() {
		response, err := c.call(ctx, "ApplyResourceChange", request)
		if err == nil && response.failed() {
			err = &Refusal{Summary: response.diagnostics()[0].Summary}
		}
		result <- err
	}()
	return result
}

func (c *cli) nothing() thing { return thing{value: cty.NullVal(c.thingType())} }

// create makes a thing.
func (c *cli) create(given map[string]cty.Value) thing {
	c.t.Helper()
	made, response := c.apply(c.plan(c.nothing(), c.thing(given)))
	if response.failed() {
		c.t.Fatalf("create: %v", response.diagnostics())
	}
	return made
}

func named(name string) map[string]cty.Value {
	return map[string]cty.Value{"name": cty.StringVal(name)}
}

func wantEvents(t *testing.T, got []string, want ...string) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("got %q, want %q", got, want)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("got %q, want %q", got, want)
			return
		}
	}
}
