// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package rules_test

import (
	"strings"
	"testing"

	"github.com/tfweaver/tfweaver/internal/core/graph"
	"github.com/tfweaver/tfweaver/internal/ruleengine"
	"github.com/tfweaver/tfweaver/internal/ruleengine/ruletest"
	"github.com/tfweaver/tfweaver/rules"
	"github.com/zclconf/go-cty/cty"
)

const (
	source   = "registry.terraform.io/tfweaver/simcloud"
	endpoint = "http://127.0.0.1:8080"
	zero     = "00000000-0000-0000-0000-000000000000"
	realm    = "simcloud:127.0.0.1:8080/subscriptions/" + zero
)

// short makes node ids readable: R is the realm, R/net is the group net.
func short() *strings.Replacer {
	return strings.NewReplacer(
		realm+"/resourcegroups", "R", realm, "R",
		"/providers/microsoft.network/virtualnetworks/", "/vnet:",
		"/providers/microsoft.network/networksecuritygroups/", "/nsg:",
		"/providers/microsoft.network/networkinterfaces/", "/nic:",
		"/providers/microsoft.network/publicipaddresses/", "/pip:",
		"/providers/microsoft.compute/disks/", "/disk:",
		"/providers/microsoft.compute/virtualmachines/", "/vm:",
		"/providers/microsoft.compute/locations/", "/quota:", "/quotas/cores-", "-", "/quotas/cores", "",
		"/providers/microsoft.authorization/policydocuments/", "/policy:",
		"/providers/microsoft.management/attachments/", "/attachment:",
		"/providers/microsoft.web/functions/", "/function:", "/permissions/", "/permission:",
		"/subnets/", "/subnet:", "/securityrules/", "/rule:",
	)
}

// attributes are the attributes of each type that the tests need not set.
func attributes(resourceType string) []string {
	all := []string{"id", "name", "resource_group_name", "location"}
	switch strings.TrimPrefix(resourceType, "simcloud_") {
	case "resource_group":
		return []string{"id", "name", "location"}
	case "virtual_network":
		return append(all, "address_space")
	case "subnet":
		return append(all, "virtual_network_name", "address_prefix", "service_endpoints", "used_addresses")
	case "network_interface":
		return append(all, "subnet_id", "public_ip_id", "network_security_group_id")
	case "network_security_rule":
		return append(all, "network_security_group_name")
	case "subnet_network_security_group_association":
		return []string{"id", "subnet_id", "network_security_group_id"}
	case "virtual_machine":
		return append(all, "size", "network_interface_ids", "data_disk_ids")
	case "managed_disk":
		return append(all, "size_gb", "max_shares", "attached_machine_ids")
	case "quota":
		return []string{"id", "location", "family", "limit", "used"}
	case "account_attachment":
		return []string{"id", "name", "target"}
	case "function_permission":
		return append(all, "function_name")
	}
	return all
}

func load(t testing.TB) *ruleengine.Engine {
	t.Helper()
	e, diags := ruleengine.LoadPacks(rules.FS())
	for _, d := range diags {
		t.Error(d)
	}
	if diags.HasErrors() {
		t.FailNow()
	}
	return e.WithEnvironment(func(name string) (string, bool) {
		return map[string]string{"SIMCLOUD_ENDPOINT": endpoint}[name], name == "SIMCLOUD_ENDPOINT"
	})
}

// config is a provider block that leaves everything to the environment.
func config() cty.Value {
	null := cty.NullVal(cty.String)
	return cty.ObjectVal(map[string]cty.Value{"endpoint": null, "subscription_id": null, "actor": null, "token": null})
}

// lower lowers an operation in the text form of ruletest.
func lower(t testing.TB, e *ruleengine.Engine, resourceType, src string, g ruleengine.Graph) ruleengine.Lowered {
	t.Helper()
	op, err := ruletest.Parse(src, resourceType, attributes(resourceType)...)
	if err != nil {
		t.Fatal(err)
	}
	op.Provider, op.Session, op.Address = source, "s1", resourceType+".x"
	if op.ProviderConfig.IsNull() {
		op.ProviderConfig = config()
	}
	l, err := e.Lower(t.Context(), op, g)
	if err != nil {
		t.Fatal(err)
	}
	if wrong := ruletest.Check(l); wrong != "" {
		t.Errorf("%s %s: %s", op.Action, resourceType, wrong)
	}
	return l
}

// associated is a live graph in which subnet a of network v is under the
// security group w.
func associated() ruletest.Graph {
	network := graph.NodeID(realm + "/resourcegroups/net/providers/microsoft.network/virtualnetworks/v")
	group := graph.NodeID(realm + "/resourcegroups/net/providers/microsoft.network/networksecuritygroups/w")
	subnet := network + "/subnets/a"
	return ruletest.Graph{
		Nodes: []graph.Decl{
			{ID: subnet, Parent: network, Kind: graph.Resource, Type: "simcloud_subnet"},
			{ID: group, Parent: realm + "/resourcegroups/net", Kind: graph.Resource, Type: "simcloud_network_security_group"},
		},
		Edges: []graph.Edge{{From: subnet, To: group, Kind: graph.References}},
	}
}
