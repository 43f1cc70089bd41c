// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package lowering_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/ruleengine"
	"github.com/tfweaver/tfweaver/rules"
	"github.com/tfweaver/tfweaver/wrapper/intercept"
	"github.com/tfweaver/tfweaver/wrapper/lowering"
	"github.com/zclconf/go-cty/cty"
)

// The plans in testdata were written by "terraform show -json" for runs
// against the simulated cloud: create.json makes everything, change.json
// updates and replaces most of it, deposed.json deletes what an earlier replace
// left over.

const simcloudSource = "registry.terraform.io/tfweaver/simcloud"

// schema gives the types of the simulated cloud's provider that the plans use.
func schema(_ context.Context, provider, resourceType string) (*intercept.Schema, error) {
	if provider != simcloudSource {
		return nil, errors.New("not proxied")
	}
	attrs := map[string]cty.Type{"id": cty.String}
	add := func(ty cty.Type, names ...string) {
		for _, name := range names {
			attrs[name] = ty
		}
	}
	switch strings.TrimPrefix(resourceType, "simcloud_") {
	case "resource_group", "network_security_group":
		add(cty.String, "name", "location")
		add(cty.Map(cty.String), "tags")
	case "virtual_network":
		add(cty.String, "name", "location", "resource_group_name")
		add(cty.Map(cty.String), "tags")
		add(cty.List(cty.String), "address_space")
	case "subnet":
		add(cty.String, "name", "resource_group_name", "virtual_network_name", "address_prefix")
		add(cty.Set(cty.String), "service_endpoints")
	case "network_interface":
		add(cty.String, "name", "location", "resource_group_name", "subnet_id", "public_ip_id", "network_security_group_id", "private_ip_address")
		add(cty.Map(cty.String), "tags")
	case "subnet_network_security_group_association":
		add(cty.String, "subnet_id", "network_security_group_id")
	default:
		return nil, errors.New("no such type")
	}
	if resourceType == "simcloud_network_security_group" {
		add(cty.String, "resource_group_name")
	}
	return &intercept.Schema{Type: cty.Object(attrs), Sensitive: cty.NewPathSet(cty.GetAttrPath("location"))}, nil
}

// config is a provider configuration as the proxy sees it.
func config(subscription cty.Value) cty.Value {
	return cty.ObjectVal(map[string]cty.Value{
		"endpoint":        cty.StringVal("http://127.0.0.1:18437"),
		"subscription_id": subscription,
		"actor":           cty.NullVal(cty.String),
		"token":           cty.NullVal(cty.String),
	})
}

func mainConfig() cty.Value {
	v := config(cty.NullVal(cty.String)).AsValueMap()
	v["actor"], v["token"] = cty.StringVal("alice"), cty.StringVal("s3cret")
	return cty.ObjectVal(v)
}

func westConfig() cty.Value { return config(cty.StringVal("11111111-1111-1111-1111-111111111111")) }

func engine(t *testing.T) *ruleengine.Engine {
	t.Helper()
	e, diags := ruleengine.LoadPacks(rules.FS())
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	return e.WithEnvironment(func(string) (string, bool) { return "", false })
}

// read reads a plan of testdata as a run would.
func read(t *testing.T, name string) *lowering.Plan {
	t.Helper()
	src, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	p, err := lowering.Read(t.Context(), src, lowering.Sources{
		Schema: schema,
		Configs: func(provider string) []cty.Value {
			if provider != simcloudSource {
				return nil
			}
			return []cty.Value{mainConfig(), westConfig()}
		},
		CloudID: engine(t).CloudID,
	})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// find is the operation of an address and an action.
func find(t *testing.T, p *lowering.Plan, address string, action admission.Action) ruleengine.Operation {
	t.Helper()
	for _, op := range p.Operations() {
		if op.Address == address && op.Action == action {
			return op
		}
	}
	t.Fatalf("the plan has no %s of %s", action, address)
	return ruleengine.Operation{}
}

// sent is the call that the CLI would make for an operation, with every unknown
// text made known.
func sent(op ruleengine.Operation, unknown func(path cty.Path) cty.Value) intercept.Call {
	planned := op.Planned
	if !planned.IsNull() {
		planned, _ = cty.Transform(planned, func(path cty.Path, v cty.Value) (cty.Value, error) {
			if v.IsKnown() {
				return v, nil
			}
			return unknown(path), nil
		})
	}
	return intercept.Call{
		Provider: op.Provider, ProviderConfig: op.ProviderConfig, Type: op.Type, Action: intercept.Action(op.Action),
		Prior: op.Prior, Planned: planned,
	}
}

// stays leaves an unknown value unknown, as computed attributes are when a call
// is sent.
func stays(cty.Path) cty.Value { return cty.UnknownVal(cty.String) }
