// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package rules_test

import (
	"net/http/httptest"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/providerserver"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"
	"github.com/zclconf/go-cty/cty/msgpack"

	"github.com/tfweaver/tfweaver/internal/simcloud"
	"github.com/tfweaver/tfweaver/internal/simcloud/provider"
)

// bench is the real provider in this process, over a simulated cloud that is
// quick, and asked over the provider protocol as Terraform asks.
type bench struct {
	t      *testing.T
	cloud  *simcloud.Cloud
	server tfprotov6.ProviderServer
	types  map[string]cty.Type
	config cty.Value
}

func newBench(t *testing.T, cfg simcloud.Config) *bench {
	t.Helper()
	cfg.Scale = 0.001
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
	b := &bench{t: t, cloud: cloud, types: map[string]cty.Type{}}
	b.server = providerserver.NewProtocol6(provider.New("test")())()
	schemas, err := b.server.GetProviderSchema(t.Context(), &tfprotov6.GetProviderSchemaRequest{})
	b.check(schemas.Diagnostics, err)
	for name, schema := range schemas.ResourceSchemas {
		b.types[name] = b.typeOf(schema)
	}
	b.config = b.fill(b.typeOf(schemas.Provider), map[string]cty.Value{"endpoint": cty.StringVal(web.URL), "subscription_id": cty.StringVal(zero), "poll_interval": cty.StringVal("1ms")})
	done, err := b.server.ConfigureProvider(t.Context(), &tfprotov6.ConfigureProviderRequest{TerraformVersion: "1.2.3", Config: b.encode(b.config)})
	b.check(done.Diagnostics, err)
	return b
}

func (b *bench) check(diags []*tfprotov6.Diagnostic, err error) {
	b.t.Helper()
	if err != nil || len(diags) > 0 {
		b.t.Fatalf("%v %q", err, errorsOf(diags))
	}
}

// errorsOf are the errors as a rule engine takes them.
func errorsOf(diags []*tfprotov6.Diagnostic) []string {
	var texts []string
	for _, d := range diags {
		if d.Severity == tfprotov6.DiagnosticSeverityError {
			texts = append(texts, d.Summary+"\n"+d.Detail)
		}
	}
	return texts
}

func (b *bench) typeOf(schema *tfprotov6.Schema) cty.Type {
	b.t.Helper()
	//lint:ignore SA1019 there is no other way from tftypes to cty
	text, err := schema.ValueType().MarshalJSON()
	if err != nil {
		b.t.Fatal(err)
	}
	ty, err := ctyjson.UnmarshalType(text)
	if err != nil {
		b.t.Fatal(err)
	}
	return ty
}

// fill is an object of a type; attributes left out are null.
func (b *bench) fill(ty cty.Type, attrs map[string]cty.Value) cty.Value {
	all := map[string]cty.Value{}
	for name, at := range ty.AttributeTypes() {
		all[name] = cty.NullVal(at)
		if v, ok := attrs[name]; ok {
			all[name] = v
		}
	}
	return cty.ObjectVal(all)
}

func (b *bench) encode(v cty.Value) *tfprotov6.DynamicValue {
	b.t.Helper()
	packed, err := msgpack.Marshal(v, v.Type())
	if err != nil {
		b.t.Fatal(err)
	}
	return &tfprotov6.DynamicValue{MsgPack: packed}
}

func (b *bench) decode(resourceType string, v *tfprotov6.DynamicValue) cty.Value {
	b.t.Helper()
	out, err := msgpack.Unmarshal(v.MsgPack, b.types[resourceType])
	if err != nil {
		b.t.Fatal(err)
	}
	return out
}

// held is an object as Terraform keeps it.
type held struct {
	resourceType string
	state        cty.Value
	private      []byte
}

// imported imports an object and reads it; the state is null if it is not there.
func (b *bench) imported(resourceType, id string) held {
	b.t.Helper()
	resp, err := b.server.ImportResourceState(b.t.Context(), &tfprotov6.ImportResourceStateRequest{TypeName: resourceType, ID: id})
	b.check(resp.Diagnostics, err)
	first := resp.ImportedResources[0]
	read, err := b.server.ReadResource(b.t.Context(), &tfprotov6.ReadResourceRequest{TypeName: resourceType, CurrentState: first.State, Private: first.Private})
	b.check(read.Diagnostics, err)
	return held{resourceType, b.decode(resourceType, read.NewState), read.Private}
}

// apply plans and applies a change to the wanted attributes, nil for a deletion,
// and returns the errors of the apply.
func (b *bench) apply(prior held, attrs map[string]cty.Value) (held, []string) {
	b.t.Helper()
	ty := b.types[prior.resourceType]
	if prior.state == cty.NilVal {
		prior.state = cty.NullVal(ty)
	}
	config := cty.NullVal(ty)
	if attrs != nil {
		config = b.fill(ty, attrs)
	}
	plan, err := b.server.PlanResourceChange(b.t.Context(), &tfprotov6.PlanResourceChangeRequest{
		TypeName: prior.resourceType, PriorState: b.encode(prior.state), ProposedNewState: b.encode(config), Config: b.encode(config), PriorPrivate: prior.private,
	})
	b.check(plan.Diagnostics, err)
	done, err := b.server.ApplyResourceChange(b.t.Context(), &tfprotov6.ApplyResourceChangeRequest{
		TypeName: prior.resourceType, PriorState: b.encode(prior.state), PlannedState: plan.PlannedState, Config: b.encode(config), PlannedPrivate: plan.PlannedPrivate,
	})
	if err != nil {
		b.t.Fatal(err)
	}
	return held{prior.resourceType, b.decode(prior.resourceType, done.NewState), done.Private}, errorsOf(done.Diagnostics)
}

// create applies a creation that must succeed.
func (b *bench) create(resourceType string, attrs map[string]cty.Value) held {
	b.t.Helper()
	made, errs := b.apply(held{resourceType: resourceType}, attrs)
	if len(errs) > 0 {
		b.t.Fatalf("create %s: %q", resourceType, errs)
	}
	return made
}
