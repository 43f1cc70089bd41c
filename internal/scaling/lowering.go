// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package scaling

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/zclconf/go-cty/cty"

	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/core/graph"
	"github.com/tfweaver/tfweaver/internal/ruleengine"
	"github.com/tfweaver/tfweaver/internal/simcloud/arm"
	"github.com/tfweaver/tfweaver/rules"
)

const (
	provider = "registry.terraform.io/tfweaver/simcloud"
	endpoint = "http://127.0.0.1:8080"
)

// Rules lowers operations with the rule pack of the simulated cloud.
type Rules struct {
	engine *ruleengine.Engine
	// alter changes what the pack asks for; nil for nothing. Tests make lock plans
	// wrong with it.
	alter func(*admission.Request)
}

// LoadRules loads the rule packs that ship with the project.
func LoadRules() (*Rules, error) {
	engine, diags := ruleengine.LoadPacks(rules.FS())
	if diags.HasErrors() {
		return nil, fmt.Errorf("load the rule packs: %w", diags)
	}
	return &Rules{engine: engine.WithEnvironment(func(name string) (string, bool) {
		return endpoint, name == "SIMCLOUD_ENDPOINT"
	})}, nil
}

func providerConfig() cty.Value {
	null := cty.NullVal(cty.String)
	return cty.ObjectVal(map[string]cty.Value{"endpoint": null, "subscription_id": null, "actor": null, "token": null})
}

// lower is what a call asks of the coordinator, on the graph as it is.
func (r *Rules) lower(o *Operation, session admission.SessionID, live *graph.Graph) (ruleengine.Lowered, error) {
	lowered, err := r.engine.Lower(context.Background(), ruleengine.Operation{
		Provider: provider, ProviderConfig: providerConfig(), Type: o.resourceType(), Action: admission.Create,
		Address: o.Address, Session: string(session), Prior: cty.NullVal(cty.DynamicPseudoType), Planned: o.planned(), Sensitive: cty.NewPathSet(),
	}, neighbours{live})
	switch {
	case err != nil:
		return lowered, fmt.Errorf("lower %s: %w", o.Address, err)
	case !lowered.Ruled:
		return lowered, fmt.Errorf("lower %s: %w", o.Address, errUnruled)
	}
	if r.alter != nil {
		r.alter(&lowered.Request)
	}
	return lowered, nil
}

var errUnruled = errors.New("the pack has no rule for the type")

// see is what a read of an object tells: of a quota its limit and use.
func (r *Rules) see(res arm.Resource) (ruleengine.Seen, error) {
	id, err := arm.ParseID(res.ID)
	if err != nil {
		return ruleengine.Seen{}, fmt.Errorf("see: %w", err)
	}
	seen, ok, err := r.engine.See(ruleengine.Object{
		Provider: provider, ProviderConfig: providerConfig(), Type: "simcloud_" + id.Kind.Key(), State: state(id, res), Sensitive: cty.NewPathSet(),
	})
	if err != nil || !ok {
		return seen, fmt.Errorf("see %s (%t): %w", id, ok, err)
	}
	return seen, nil
}

// state is the state that the provider would make of a read.
func state(id arm.ID, res arm.Resource) cty.Value {
	values := map[string]cty.Value{
		"id": cty.StringVal(res.ID), "name": cty.StringVal(id.Name), "resource_group_name": text(id.Group),
		"location": text(res.Location), "provisioning_state": text(string(res.Properties.ProvisioningState)),
	}
	if id.Kind == arm.Quota {
		values["location"], values["family"] = text(id.ParentName), text(id.QuotaFamily())
		values["limit"], values["used"] = number(res.Properties.Limit), number(res.Properties.CurrentValue)
	}
	return cty.ObjectVal(values)
}

func number(n *int) cty.Value {
	if n == nil {
		return cty.NullVal(cty.Number)
	}
	return cty.NumberIntVal(int64(*n))
}

// neighbours answers what rules ask about the graph.
type neighbours struct{ live *graph.Graph }

// Neighbours implements ruleengine.Graph.
func (g neighbours) Neighbours(_ context.Context, id graph.NodeID, kind graph.EdgeKind, out bool) ([]graph.Decl, uint64, bool, error) {
	node := g.live.Peek(id)
	if node == nil {
		return nil, 0, false, nil
	}
	edges := g.live.In(id)
	if out {
		edges = g.live.Out(id)
	}
	var found []graph.Decl
	for _, e := range edges {
		other := e.From
		if out {
			other = e.To
		}
		if n := g.live.Peek(other); n != nil && e.Kind == kind {
			found = append(found, n.Decl)
		}
	}
	return found, node.Version, true, nil
}

var _ ruleengine.Graph = neighbours{}

// cutRealm splits a node into its realm's namespace and the id that the cloud
// knows it by.
func cutRealm(id graph.NodeID) (realm, path string, ok bool) {
	realm, path, ok = strings.Cut(string(id), "/")
	return realm, "/" + path, ok
}
