// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package provider_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/terraform-plugin-framework/providerserver"
	"github.com/hashicorp/terraform-plugin-go/tfprotov5"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/tfweaver/tfweaver/internal/simcloud"
	"github.com/tfweaver/tfweaver/internal/simcloud/activity"
	"github.com/tfweaver/tfweaver/internal/simcloud/arm"
	"github.com/tfweaver/tfweaver/internal/simcloud/provider"
)

const (
	groupPath  = "/subscriptions/" + arm.DefaultSubscription + "/resourceGroups/Net"
	netPath    = groupPath + "/providers/Microsoft.Network/virtualNetworks/v"
	subnetPath = netPath + "/subnets/a"
	nsgPath    = groupPath + "/providers/Microsoft.Network/networkSecurityGroups/n"
	pipPath    = groupPath + "/providers/Microsoft.Network/publicIPAddresses/p"
	nicPath    = groupPath + "/providers/Microsoft.Network/networkInterfaces/i"

	diskPath       = groupPath + "/providers/Microsoft.Compute/disks/d"
	machinePath    = groupPath + "/providers/Microsoft.Compute/virtualMachines/m"
	policyPath     = groupPath + "/providers/Microsoft.Authorization/policyDocuments/o"
	quotaPath      = "/subscriptions/" + arm.DefaultSubscription + "/providers/Microsoft.Compute/locations/north/quotas/cores-standardBSFamily"
	attachmentPath = "/subscriptions/" + arm.DefaultSubscription + "/providers/Microsoft.Management/attachments/t"
	functionPath   = groupPath + "/providers/Microsoft.Web/functions/f"
)

// step is a resource with its first configuration and a later one.
type step struct {
	name          string
	config, later values
	id            string
}

func steps() []step {
	inGroup := func(name string, more values) values {
		v := values{"name": name, "resource_group_name": "Net", "location": "north"}
		for k, x := range more {
			v[k] = x
		}
		return v
	}
	subnet := func(prefix string, services ...string) values {
		return values{"name": "a", "resource_group_name": "Net", "virtual_network_name": "v", "address_prefix": prefix, "service_endpoints": services}
	}
	rule := func(priority int) values {
		return values{"name": "r", "resource_group_name": "Net", "network_security_group_name": "n", "priority": priority, "direction": "Inbound", "access": "Allow", "protocol": "Tcp", "destination_port_range": "443"}
	}
	permission := func(principal string) values {
		return values{"name": "p", "resource_group_name": "Net", "function_name": "f", "principal": principal, "action": "invoke"}
	}
	return []step{
		{"simcloud_resource_group", values{"name": "Net", "location": "north", "tags": map[string]string{}}, values{"name": "Net", "location": "north", "tags": map[string]string{"a": "b"}}, groupPath},
		{"simcloud_virtual_network", inGroup("v", values{"address_space": []string{"10.0.0.0/16"}}), inGroup("v", values{"address_space": []string{"10.0.0.0/16", "10.1.0.0/16"}}), netPath},
		{"simcloud_subnet", subnet("10.0.1.0/24"), subnet("10.0.2.0/24", "Storage", "KeyVault"), subnetPath},
		{"simcloud_network_security_group", inGroup("n", nil), inGroup("n", values{"tags": map[string]string{"x": "y"}}), nsgPath},
		{"simcloud_network_security_rule", rule(100), rule(200), nsgPath + "/securityRules/r"},
		{"simcloud_subnet_network_security_group_association", values{"subnet_id": subnetPath, "network_security_group_id": nsgPath}, nil, subnetPath + "/networkSecurityGroupAssociation"},
		{"simcloud_public_ip", inGroup("p", nil), inGroup("p", values{"tags": map[string]string{"x": "y"}}), pipPath},
		{"simcloud_network_interface", inGroup("i", values{"subnet_id": strings.ToLower(subnetPath), "public_ip_id": pipPath}), inGroup("i", values{"subnet_id": subnetPath, "network_security_group_id": nsgPath}), nicPath},
		{"simcloud_managed_disk", inGroup("d", values{"size_gb": 8, "max_shares": 1}), inGroup("d", values{"size_gb": 16, "max_shares": 2, "tags": map[string]string{"x": "y"}}), diskPath},
		{
			"simcloud_virtual_machine", inGroup("m", values{"size": "Standard_B1s", "data_disk_ids": []string{strings.ToLower(diskPath)}, "network_interface_ids": []string{}}),
			inGroup("m", values{"size": "Standard_D2s_v5", "data_disk_ids": []string{diskPath}, "network_interface_ids": []string{nicPath}}), machinePath,
		},
		{"simcloud_policy_document", values{"name": "o", "resource_group_name": "Net", "statements": []string{}}, values{"name": "o", "resource_group_name": "Net", "statements": []string{"b", "a"}}, policyPath},
		{"simcloud_account_attachment", values{"name": "t", "target": "one"}, values{"name": "t", "target": "two"}, attachmentPath},
		{"simcloud_function", inGroup("f", values{"runtime": "one"}), inGroup("f", values{"runtime": "two"}), functionPath},
		{"simcloud_function_permission", permission("caller"), permission("other"), functionPath + "/permissions/p"},
		{"simcloud_quota", values{"location": "north", "family": "standardBSFamily", "limit": 8}, values{"location": "north", "family": "standardBSFamily", "limit": 16}, quotaPath},
	}
}

// TestLifeOfEveryResource creates, refreshes, updates, imports and deletes.
func TestLifeOfEveryResource(t *testing.T) {
	t.Parallel()
	d := newDriver(t, simcloud.Config{}, nil)
	all := steps()
	var live []instance
	for _, s := range all {
		in := d.create(s.name, s.config)
		if !strings.EqualFold(in.values["id"].(string), s.id) {
			t.Errorf("%s has the id %v; want %s", s.name, in.values["id"], s.id)
		}
		d.noChange(in, s.config)
		in = d.read(in)
		d.noChange(in, s.config)
		if s.later != nil {
			in = d.update(in, s.later)
			d.noChange(d.read(in), s.later)
			s.config = s.later
		}
		again := d.imported(s.name, in.values["id"].(string))
		d.noChange(again, s.config)
		live = append(live, again) // deleting an import works too
	}
	for _, in := range slices.Backward(live) {
		d.destroy(in)
		if gone := d.read(in); (gone.values != nil) != (in.name == "simcloud_quota") {
			t.Errorf("%s is there after its destruction: %v", in.name, gone.values)
		}
	}
	log, err := activity.Pair(d.cloud.Events())
	if err != nil || len(log.Refused) > 0 {
		t.Errorf("refused: %+v, %v", log.Refused, err)
	}
	for _, o := range log.Operations {
		if o.Actor != "tester" || !strings.Contains(o.UserAgent, "terraform-provider-simcloud/test") || !strings.Contains(o.UserAgent, "Terraform/1.2.3") || o.CorrelationID != log.Operations[0].CorrelationID {
			t.Errorf("operation %+v", o)
		}
	}
}

// built creates the resources up to the named one.
func (d *driver) built(last string) map[string]instance {
	d.t.Helper()
	made := make(map[string]instance)
	for _, s := range steps() {
		made[s.name] = d.create(s.name, s.config)
		if s.name == last {
			break
		}
	}
	return made
}

func TestASubnetUpdateKeepsTheSecurityGroup(t *testing.T) {
	t.Parallel()
	d := newDriver(t, simcloud.Config{}, nil)
	made := d.built("simcloud_subnet_network_security_group_association")
	d.update(made["simcloud_subnet"], steps()[2].later)
	association := d.read(made["simcloud_subnet_network_security_group_association"])
	if association.values == nil || association.values["network_security_group_id"] != nsgPath {
		t.Errorf("the association is gone: %v", association.values)
	}
	d.destroy(association)
	subnet := d.read(made["simcloud_subnet"])
	if subnet.values["address_prefix"] != "10.0.2.0/24" || len(subnet.values["service_endpoints"].([]string)) != 2 {
		t.Errorf("the association took more than itself: %v", subnet.values)
	}
	if gone := d.read(association); gone.values != nil {
		t.Errorf("the association is still there: %v", gone.values)
	}
}

// outside writes to the cloud as somebody else would.
func (d *driver) outside(path string, r arm.Resource) {
	d.t.Helper()
	body, err := json.Marshal(r)
	if err != nil {
		d.t.Fatal(err)
	}
	if _, refusal := d.cloud.Write(simcloud.Call{Method: "PUT", Path: path, Body: body}); refusal != nil {
		d.t.Fatal(refusal)
	}
	for deadline := time.Now().Add(time.Minute); d.cloud.InFlight() > 0; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			d.t.Fatal("an operation goes on for a minute")
		}
	}
}

func (d *driver) object(path string) arm.Resource {
	d.t.Helper()
	r, refusal := d.cloud.Read(simcloud.Call{Path: path})
	if refusal != nil {
		d.t.Fatal(refusal)
	}
	return r
}

func TestAnotherSpellingIsNoChange(t *testing.T) {
	t.Parallel()
	d := newDriver(t, simcloud.Config{}, nil)
	nic := d.built("")["simcloud_network_interface"]
	r := d.object(nicPath)
	r.Properties.Subnet.ID, r.Location = strings.ToUpper(subnetPath), "NORTH"
	d.outside(nicPath, r)
	d.noChange(d.read(nic), steps()[7].config)
	r.Tags = map[string]string{"a": "b"}
	d.outside(nicPath, r)
	if tags := d.read(nic).values["tags"]; !cmp.Equal(tags, map[string]string{"a": "b"}) {
		t.Errorf("a real change is not seen: %v", tags)
	}
}

func TestAnAssociationLeavesTheSecurityGroupOfOthers(t *testing.T) {
	t.Parallel()
	d := newDriver(t, simcloud.Config{}, nil)
	association := d.built("simcloud_subnet_network_security_group_association")["simcloud_subnet_network_security_group_association"]
	d.outside(nsgPath+"2", arm.Resource{Location: "north"})
	r := d.object(subnetPath)
	r.Properties.NetworkSecurityGroup.ID = nsgPath + "2"
	d.outside(subnetPath, r)
	d.destroy(association)
	if got := arm.RefID(d.object(subnetPath).Properties.NetworkSecurityGroup); got != nsgPath+"2" {
		t.Errorf("the subnet has the security group %q", got)
	}
}

func TestNamesAndPlacesReplace(t *testing.T) {
	t.Parallel()
	d := newDriver(t, simcloud.Config{}, nil)
	made := d.built("")
	for name, attributes := range map[string][]string{
		"simcloud_resource_group":                            {"name", "location"},
		"simcloud_virtual_network":                           {"name", "location", "resource_group_name"},
		"simcloud_subnet":                                    {"name", "virtual_network_name", "resource_group_name"},
		"simcloud_network_security_group":                    {"name", "location", "resource_group_name"},
		"simcloud_network_security_rule":                     {"name", "network_security_group_name", "resource_group_name"},
		"simcloud_public_ip":                                 {"name", "location", "resource_group_name", "sku"},
		"simcloud_network_interface":                         {"name", "location", "resource_group_name"},
		"simcloud_subnet_network_security_group_association": {"subnet_id", "network_security_group_id"},
		"simcloud_managed_disk":                              {"name", "location", "resource_group_name"},
		"simcloud_virtual_machine":                           {"name", "location", "resource_group_name", "image"},
		"simcloud_quota":                                     {"location", "family"},
		"simcloud_policy_document":                           {"name", "resource_group_name"},
		"simcloud_account_attachment":                        {"name"},
		"simcloud_function":                                  {"name", "location", "resource_group_name"},
		"simcloud_function_permission":                       {"name", "function_name", "resource_group_name"},
	} {
		i := slices.IndexFunc(steps(), func(s step) bool { return s.name == name })
		for _, attribute := range attributes {
			config := steps()[i].config
			config[attribute] = "Basic"
			if _, replace := d.plan(made[name], config); !replace {
				t.Errorf("a change of %s.%s replaces nothing", name, attribute)
			}
		}
	}
}

func TestDataSources(t *testing.T) {
	t.Parallel()
	d := newDriver(t, simcloud.Config{}, nil)
	d.built("simcloud_virtual_network")
	got, diags := d.source("simcloud_virtual_network", values{"name": "v", "resource_group_name": "Net"})
	want := values{
		"id": netPath, "name": "v", "resource_group_name": "Net", "location": "north", "address_space": []string{"10.0.0.0/16"}, "tags": nil,
		"provisioning_state": "Succeeded", "uid": d.object(netPath).Properties.UniqueID,
	}
	if diff := cmp.Diff(want, got); diff != "" || diags != nil {
		t.Errorf("%s\n(-want +got):\n%s", diags, diff)
	}
	if got, diags := d.source("simcloud_resource_group", values{"name": "Net"}); diags != nil || got["location"] != "north" {
		t.Errorf("%v, %s", got, diags)
	}
	if _, diags := d.source("simcloud_resource_group", values{"name": "none"}); len(diags) != 1 || !strings.Contains(diags[0], "ResourceGroupNotFound") {
		t.Errorf("got %s", diags)
	}
}

func TestTheQuotaSource(t *testing.T) {
	t.Parallel()
	d := newDriver(t, simcloud.Config{}, nil)
	d.built("simcloud_virtual_machine")
	got, diags := d.source("simcloud_quota", values{"location": "north", "family": "standardBSFamily"})
	want := values{"id": quotaPath, "location": "north", "family": "standardBSFamily", "limit": "1000", "used": "1", "provisioning_state": "Succeeded", "uid": d.object(quotaPath).Properties.UniqueID}
	if diff := cmp.Diff(want, got); diff != "" || diags != nil {
		t.Errorf("%s\n(-want +got):\n%s", diags, diff)
	}
	if got, diags := d.source("simcloud_quota", values{"location": "north"}); diags != nil || got["limit"] != "2000" || got["family"] != nil {
		t.Errorf("%v, %s", got, diags)
	}
	if _, diags := d.source("simcloud_quota", values{"location": "south"}); len(diags) != 1 || !strings.Contains(diags[0], "ResourceNotFound") {
		t.Errorf("got %s", diags)
	}
}

func TestCloudErrorsAreDiagnostics(t *testing.T) {
	t.Parallel()
	d := newDriver(t, simcloud.Config{}, nil)
	_, diags := d.apply(t.Context(), instance{name: "simcloud_virtual_network"}, steps()[1].config)
	if len(diags) != 1 {
		t.Fatalf("got %s", diags)
	}
	for _, part := range []string{"Cannot create simcloud_virtual_network: ResourceGroupNotFound", "Code: ResourceGroupNotFound", "Object: " + netPath, "404"} {
		if !strings.Contains(diags[0], part) {
			t.Errorf("%q lacks %q", diags[0], part)
		}
	}
	_, diags = d.apply(t.Context(), instance{name: "simcloud_subnet_network_security_group_association"}, steps()[5].config)
	if len(diags) != 1 || !strings.Contains(diags[0], "ResourceNotFound") {
		t.Errorf("got %s", diags)
	}
	made := d.built("")
	_, diags = d.apply(t.Context(), made["simcloud_subnet"], nil)
	if len(diags) != 1 || !strings.Contains(diags[0], "Cannot delete simcloud_subnet: InUseSubnetCannotBeDeleted") || !strings.Contains(diags[0], "Object: "+subnetPath) {
		t.Errorf("got %s", diags)
	}
	cfg := steps()[2].config
	cfg["address_prefix"] = "10.9.0.0/24"
	after, diags := d.apply(t.Context(), made["simcloud_subnet"], cfg)
	if len(diags) != 1 || !strings.Contains(diags[0], "Cannot update simcloud_subnet: NetcfgInvalidSubnet") || after.values["address_prefix"] != "10.0.1.0/24" {
		t.Errorf("got %v %s", after.values, diags)
	}
}

func TestWhatExistsMustBeImported(t *testing.T) {
	t.Parallel()
	d := newDriver(t, simcloud.Config{}, nil)
	d.built("simcloud_subnet_network_security_group_association")
	for _, i := range []int{0, 2, 5} {
		s := steps()[i]
		after, diags := d.apply(t.Context(), instance{name: s.name}, s.config)
		if len(diags) != 1 || !strings.Contains(diags[0], "already exists") || after.values != nil {
			t.Errorf("%s: got %v %s", s.name, after.values, diags)
		}
	}
}

func TestAnAcceptedCreationThatFailsStaysInTheState(t *testing.T) {
	t.Parallel()
	d := newDriver(t, simcloud.Config{}, nil)
	d.built("simcloud_resource_group")
	d.cloud.FailNext(parse(t, pipPath), "AllocationFailed", "no capacity")
	in, diags := d.apply(t.Context(), instance{name: "simcloud_public_ip"}, steps()[6].config)
	if len(diags) != 1 || !strings.Contains(diags[0], "AllocationFailed") {
		t.Errorf("got %s", diags)
	}
	if in.values == nil || in.values["id"] != pipPath || in.values["ip_address"] == "" {
		t.Fatalf("the state is %v", in.values)
	}
	d.destroy(in) // as Terraform does with what is tainted
}

// TestPrivateStateIsMissed drops the private state, as a careless program
// between Terraform and the provider would.
func TestPrivateStateIsMissed(t *testing.T) {
	t.Parallel()
	d := newDriver(t, simcloud.Config{}, nil)
	in := d.built("simcloud_resource_group")["simcloud_resource_group"]
	if len(in.private) == 0 {
		t.Fatal("no private state after create")
	}
	in.private = nil
	if _, diags := d.apply(t.Context(), in, steps()[0].later); len(diags) != 1 || !strings.Contains(diags[0], "Private state is missing") {
		t.Errorf("got %s", diags)
	}
	if len(d.cloud.Events()) != 2 {
		t.Errorf("a call reached the cloud: %+v", d.cloud.Events()[2:])
	}
}

// TestAnObjectWithoutPrivateStateCanBeDeleted: so Terraform deletes what is
// tainted and replaced.
func TestAnObjectWithoutPrivateStateCanBeDeleted(t *testing.T) {
	t.Parallel()
	d := newDriver(t, simcloud.Config{}, nil)
	in := d.built("simcloud_resource_group")["simcloud_resource_group"]
	in.private = nil
	d.destroy(in)
	if events := d.cloud.Events(); !slices.ContainsFunc(events, func(e activity.Event) bool { return e.Method == "DELETE" }) {
		t.Errorf("the cloud saw %+v", events)
	}
}

// TestStaleTokensAreReadAgain lets many writers of one rule set go on together:
// with retries of conflicts, all end.
func TestStaleTokensAreReadAgain(t *testing.T) {
	t.Parallel()
	d := newDriver(t, simcloud.Config{}, values{"max_retries": 100, "token_retries": 1000})
	d.built("simcloud_network_security_group")
	results := make(chan []string)
	const writers = 6
	for i := range writers {
		go func() {
			config := steps()[4].config
			config["name"], config["priority"] = "r"+string(rune('0'+i)), 100+i
			_, diags := d.apply(t.Context(), instance{name: "simcloud_network_security_rule"}, config)
			results <- diags
		}()
	}
	for range writers {
		if diags := <-results; len(diags) > 0 {
			t.Errorf("got %s", diags)
		}
	}
}

// TestTokenRetriesEnd has a token that is always stale: the cloud's every answer
// to a write is 412.
func TestTokenRetriesEnd(t *testing.T) {
	t.Parallel()
	d := newDriver(t, simcloud.Config{}, values{"token_retries": 0})
	d.built("simcloud_network_security_group")
	proxy := newStaleProxy(t, d)
	if diags := d.configure(values{"endpoint": proxy.url, "poll_interval": "1ms", "token_retries": 2}); len(diags) > 0 {
		t.Fatal(diags)
	}
	_, diags := d.apply(t.Context(), instance{name: "simcloud_network_security_rule"}, steps()[4].config)
	if len(diags) != 1 || !strings.Contains(diags[0], "PreconditionFailed") || proxy.writes.Load() != 3 {
		t.Errorf("%d writes, %s", proxy.writes.Load(), diags)
	}
}

func TestACanceledApplyKeepsWhatWasAccepted(t *testing.T) {
	t.Parallel()
	d := newDriver(t, simcloud.Config{Scale: 1000}, nil)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	// The first poll shows that the provider knows that the write was accepted.
	url := newPollProxy(t, d, cancel)
	if diags := d.configure(values{"endpoint": url, "poll_interval": "1ms"}); len(diags) > 0 {
		t.Fatal(diags)
	}
	in, diags := d.apply(ctx, instance{name: "simcloud_resource_group"}, steps()[0].config)
	if len(diags) != 1 || !strings.Contains(diags[0], "was accepted") || !strings.Contains(diags[0], "context canceled") {
		t.Errorf("got %s", diags)
	}
	if in.values["id"] != groupPath {
		t.Errorf("what was accepted is forgotten: %v", in.values)
	}
}

func TestProviderConfiguration(t *testing.T) {
	t.Parallel()
	d := newDriver(t, simcloud.Config{Tokens: map[string]string{"tester": "secret"}}, values{"token": "secret"})
	d.built("simcloud_resource_group")
	for want, cfg := range map[string]values{
		"set the endpoint": {},
		"endpoint":         {"endpoint": "nonsense"},
		"poll interval":    {"endpoint": "http://x", "poll_interval": "soon"},
		"is not positive":  {"endpoint": "http://x", "poll_interval": "-1s"},
		"must be known":    {"endpoint": tftypes.UnknownValue},
	} {
		if diags := d.configure(cfg); len(diags) != 1 || !strings.Contains(diags[0], want) {
			t.Errorf("%v: got %s; want %q", cfg, diags, want)
		}
	}
	for _, a := range d.schema.Provider.Block.Attributes {
		if a.Sensitive != (a.Name == "token") {
			t.Errorf("%s: sensitive is %v", a.Name, a.Sensitive)
		}
	}
}

func TestBadImportIDs(t *testing.T) {
	t.Parallel()
	d := newDriver(t, simcloud.Config{}, nil)
	for name, ids := range map[string][]string{
		"simcloud_subnet": {"", "x", netPath, subnetPath + "/networkSecurityGroupAssociation"},
		"simcloud_subnet_network_security_group_association": {subnetPath, netPath + "/networkSecurityGroupAssociation"},
	} {
		for _, text := range ids {
			resp, err := d.server.ImportResourceState(t.Context(), &tfprotov6.ImportResourceStateRequest{TypeName: name, ID: text})
			if err != nil || len(resp.Diagnostics) == 0 {
				t.Errorf("%s: %q is accepted, %v", name, text, err)
			}
		}
	}
}

// TestProtocol5 checks that the schema has nothing that only protocol 6 has.
func TestProtocol5(t *testing.T) {
	t.Parallel()
	server := providerserver.NewProtocol5(provider.New("test")())()
	resp, err := server.GetProviderSchema(t.Context(), &tfprotov5.GetProviderSchemaRequest{})
	if err != nil || len(resp.Diagnostics) > 0 || len(resp.ResourceSchemas) != 15 || len(resp.DataSourceSchemas) != 3 {
		t.Errorf("%d resources, %d data sources, %v, %v", len(resp.ResourceSchemas), len(resp.DataSourceSchemas), resp.Diagnostics, err)
	}
	for name, s := range resp.ResourceSchemas {
		for _, a := range s.Block.Attributes {
			if a.Description == "" {
				t.Errorf("%s.%s has no description", name, a.Name)
			}
		}
	}
}
