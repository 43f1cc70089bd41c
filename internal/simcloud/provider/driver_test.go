// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package provider_test

import (
	"context"
	"fmt"
	"math/big"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/terraform-plugin-framework/providerserver"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
	"go.uber.org/goleak"

	"github.com/tfweaver/tfweaver/internal/simcloud"
	"github.com/tfweaver/tfweaver/internal/simcloud/arm"
	"github.com/tfweaver/tfweaver/internal/simcloud/provider"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m,
		// A provider has no end of its own, so its client keeps connections until
		// the server or the process ends; the server end is closed by each test.
		goleak.IgnoreAnyFunction("net/http.(*persistConn).readLoop"),
		goleak.IgnoreAnyFunction("net/http.(*persistConn).writeLoop"))
}

// values are the attributes of a configuration or a state.
type values map[string]any

// driver does what Terraform does with a provider, over the provider protocol.
type driver struct {
	t        *testing.T
	cloud    *simcloud.Cloud
	settings values
	env      map[string]string
	server   tfprotov6.ProviderServer
	schema   *tfprotov6.GetProviderSchemaResponse
}

func newDriver(t *testing.T, cfg simcloud.Config, settings values) *driver {
	t.Helper()
	if cfg.Scale == 0 {
		cfg.Scale = 0.001
	}
	if cfg.Quotas == nil {
		cfg.Quotas = map[string]int{"north": 2000, "north/standardBSFamily": 1000}
	}
	cloud, err := simcloud.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	web := httptest.NewServer(cloud.Handler())
	t.Cleanup(func() {
		web.Close()
		if err := cloud.Close(); err != nil {
			t.Error(err)
		}
	})
	d := &driver{t: t, cloud: cloud, settings: values{"endpoint": web.URL, "poll_interval": "1ms", "actor": "tester"}}
	for k, v := range settings {
		d.settings[k] = v
	}
	return d.fresh()
}

// fresh is another provider of the same cloud, which knows of nothing yet.
func (d *driver) fresh() *driver {
	d.t.Helper()
	other := &driver{t: d.t, cloud: d.cloud, settings: d.settings, env: d.env}
	other.server = providerserver.NewProtocol6(provider.NewIn("test", func(name string) string { return d.env[name] })())()
	var err error
	other.schema, err = other.server.GetProviderSchema(d.t.Context(), &tfprotov6.GetProviderSchemaRequest{})
	other.check("schema", other.schema.Diagnostics, err)
	if diags := other.configure(d.settings); len(diags) > 0 {
		d.t.Fatalf("configure: %s", diags)
	}
	return other
}

func (d *driver) configure(v values) []string {
	d.t.Helper()
	config := d.dynamic(d.schema.Provider.ValueType(), v)
	resp, err := d.server.ConfigureProvider(d.t.Context(), &tfprotov6.ConfigureProviderRequest{TerraformVersion: "1.2.3", Config: config})
	if err != nil {
		d.t.Fatal(err)
	}
	return texts(resp.Diagnostics)
}

func texts(diags []*tfprotov6.Diagnostic) []string {
	var out []string
	for _, diag := range diags {
		out = append(out, diag.Summary+"\n"+diag.Detail)
	}
	return out
}

func (d *driver) check(what string, diags []*tfprotov6.Diagnostic, err error) {
	d.t.Helper()
	if err != nil || len(diags) > 0 {
		d.t.Fatalf("%s: %v %s", what, err, texts(diags))
	}
}

// dynamic encodes attributes; those left out are null. A nil map is null.
func (d *driver) dynamic(typ tftypes.Type, v values) *tfprotov6.DynamicValue {
	d.t.Helper()
	value := tftypes.NewValue(typ, nil)
	if v != nil {
		attributes := make(map[string]tftypes.Value)
		for name, at := range typ.(tftypes.Object).AttributeTypes {
			attributes[name] = encodeValue(at, v[name])
		}
		value = tftypes.NewValue(typ, attributes)
	}
	dv, err := tfprotov6.NewDynamicValue(typ, value)
	if err != nil {
		d.t.Fatal(err)
	}
	return &dv
}

func encodeValue(typ tftypes.Type, v any) tftypes.Value {
	switch v := v.(type) {
	case string:
		if n, ok := new(big.Float).SetString(v); ok && typ.Is(tftypes.Number) {
			return tftypes.NewValue(typ, n) // as decode made it
		}
	case []string:
		if v == nil {
			return tftypes.NewValue(typ, nil)
		}
		elements := []tftypes.Value{}
		for _, e := range v {
			elements = append(elements, tftypes.NewValue(tftypes.String, e))
		}
		return tftypes.NewValue(typ, elements)
	case map[string]string:
		elements := map[string]tftypes.Value{}
		for k, e := range v {
			elements[k] = tftypes.NewValue(tftypes.String, e)
		}
		return tftypes.NewValue(typ, elements)
	}
	return tftypes.NewValue(typ, v)
}

// decode reads attributes: numbers become text, collections those of text.
func (d *driver) decode(typ tftypes.Type, dv *tfprotov6.DynamicValue) values {
	d.t.Helper()
	value, err := dv.Unmarshal(typ)
	if err != nil {
		d.t.Fatal(err)
	}
	if value.IsNull() {
		return nil
	}
	var attributes map[string]tftypes.Value
	if err := value.As(&attributes); err != nil {
		d.t.Fatal(err)
	}
	out := values{}
	for name, a := range attributes {
		out[name] = plain(a)
	}
	return out
}

func plain(v tftypes.Value) any {
	if v.IsNull() {
		return nil
	}
	if !v.IsKnown() {
		return tftypes.UnknownValue
	}
	var text string
	if v.As(&text) == nil {
		return text
	}
	var elements []tftypes.Value
	if v.As(&elements) == nil {
		list := []string{}
		for _, e := range elements {
			list = append(list, fmt.Sprint(plain(e)))
		}
		return list
	}
	var members map[string]tftypes.Value
	if v.As(&members) == nil {
		m := map[string]string{}
		for k, e := range members {
			m[k] = fmt.Sprint(plain(e))
		}
		return m
	}
	return strings.TrimSuffix(strings.TrimPrefix(v.String(), `tftypes.Number<"`), `">`)
}

// instance is a resource as Terraform remembers it.
type instance struct {
	name    string
	state   *tfprotov6.DynamicValue
	private []byte
	values  values
}

func (d *driver) typ(name string) tftypes.Type { return d.schema.ResourceSchemas[name].ValueType() }

// plan asks for a plan; it reports whether the object is to be replaced.
func (d *driver) plan(prior instance, config values) (planned *tfprotov6.PlanResourceChangeResponse, replace bool) {
	d.t.Helper()
	typ := d.typ(prior.name)
	proposed := values{}
	for k, v := range config {
		proposed[k] = v
	}
	for _, a := range d.schema.ResourceSchemas[prior.name].Block.Attributes {
		if _, set := proposed[a.Name]; !set && a.Computed && prior.values != nil {
			proposed[a.Name] = prior.values[a.Name]
		}
	}
	if config == nil {
		proposed = nil
	}
	resp, err := d.server.PlanResourceChange(d.t.Context(), &tfprotov6.PlanResourceChangeRequest{
		TypeName: prior.name, PriorState: d.priorState(prior), ProposedNewState: d.dynamic(typ, proposed),
		Config: d.dynamic(typ, config), PriorPrivate: prior.private,
	})
	d.check("plan "+prior.name, resp.Diagnostics, err)
	return resp, len(resp.RequiresReplace) > 0
}

func (d *driver) priorState(prior instance) *tfprotov6.DynamicValue {
	d.t.Helper()
	if prior.state == nil {
		return d.dynamic(d.typ(prior.name), nil)
	}
	return prior.state
}

// apply plans and applies. Diagnostics of the apply are returned, not fatal.
func (d *driver) apply(ctx context.Context, prior instance, config values) (instance, []string) {
	d.t.Helper()
	planned, _ := d.plan(prior, config)
	typ := d.typ(prior.name)
	resp, err := d.server.ApplyResourceChange(ctx, &tfprotov6.ApplyResourceChangeRequest{
		TypeName: prior.name, PriorState: d.priorState(prior), PlannedState: planned.PlannedState,
		Config: d.dynamic(typ, config), PlannedPrivate: planned.PlannedPrivate,
	})
	if err != nil {
		d.t.Fatal(err)
	}
	after := instance{prior.name, resp.NewState, resp.Private, d.decode(typ, resp.NewState)}
	if len(resp.Diagnostics) == 0 {
		d.consistent(prior.name, config, d.decode(typ, planned.PlannedState), after.values)
	}
	return after, texts(resp.Diagnostics)
}

// consistent wants what was planned without being configured to have become so,
// as Terraform does. What is configured may have been written by others since.
func (d *driver) consistent(name string, config, planned, after values) {
	d.t.Helper()
	for attribute, want := range planned {
		if _, configured := config[attribute]; !configured && want != any(tftypes.UnknownValue) && !cmp.Equal(want, after[attribute]) {
			d.t.Errorf("inconsistent result: %s.%s is %v; planned was %v", name, attribute, after[attribute], want)
		}
	}
}

// source reads a data source.
func (d *driver) source(name string, config values) (values, []string) {
	d.t.Helper()
	typ := d.schema.DataSourceSchemas[name].ValueType()
	resp, err := d.server.ReadDataSource(d.t.Context(), &tfprotov6.ReadDataSourceRequest{TypeName: name, Config: d.dynamic(typ, config)})
	if err != nil {
		d.t.Fatal(err)
	}
	if len(resp.Diagnostics) > 0 {
		return nil, texts(resp.Diagnostics)
	}
	return d.decode(typ, resp.State), nil
}

// create makes a resource and fails the test if that fails.
func (d *driver) create(name string, config values) instance {
	d.t.Helper()
	return d.update(instance{name: name}, config)
}

func (d *driver) update(prior instance, config values) instance {
	d.t.Helper()
	after, diags := d.apply(d.t.Context(), prior, config)
	if len(diags) > 0 {
		d.t.Fatalf("apply %s: %s", prior.name, diags)
	}
	return after
}

func (d *driver) destroy(prior instance) {
	d.t.Helper()
	if after := d.update(prior, nil); after.values != nil {
		d.t.Errorf("%s is still in the state: %v", prior.name, after.values)
	}
}

// read refreshes; the values are nil if the object is gone.
func (d *driver) read(in instance) instance {
	d.t.Helper()
	resp, err := d.server.ReadResource(d.t.Context(), &tfprotov6.ReadResourceRequest{TypeName: in.name, CurrentState: in.state, Private: in.private})
	d.check("read "+in.name, resp.Diagnostics, err)
	return instance{in.name, resp.NewState, resp.Private, d.decode(d.typ(in.name), resp.NewState)}
}

// imported imports by id and refreshes.
func (d *driver) imported(name, id string) instance {
	d.t.Helper()
	resp, err := d.server.ImportResourceState(d.t.Context(), &tfprotov6.ImportResourceStateRequest{TypeName: name, ID: id})
	d.check("import "+name, resp.Diagnostics, err)
	first := resp.ImportedResources[0]
	return d.read(instance{name, first.State, first.Private, nil})
}

// noChange fails the test unless the configuration plans to what is there.
func (d *driver) noChange(in instance, config values) {
	d.t.Helper()
	planned, _ := d.plan(in, config)
	typ := d.typ(in.name)
	want, err := in.state.Unmarshal(typ)
	if err != nil {
		d.t.Fatal(err)
	}
	got, err := planned.PlannedState.Unmarshal(typ)
	if err != nil {
		d.t.Fatal(err)
	}
	diffs, err := got.Diff(want)
	if err != nil || len(diffs) > 0 {
		d.t.Errorf("%s plans a change: %v %v", in.name, diffs, err)
	}
}

func parse(t *testing.T, text string) arm.ID {
	t.Helper()
	id, err := arm.ParseID(text)
	if err != nil {
		t.Fatal(err)
	}
	return id
}
