// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package rules_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/tfweaver/tfweaver/internal/core/admission"
	"github.com/tfweaver/tfweaver/internal/core/escrow"
	"github.com/tfweaver/tfweaver/internal/core/graph"
	"github.com/tfweaver/tfweaver/internal/ruleengine"
	"github.com/tfweaver/tfweaver/internal/simcloud"
	"github.com/tfweaver/tfweaver/internal/simcloud/arm"
	"github.com/zclconf/go-cty/cty"
	"pgregory.net/rapid"
)

const quotaID = "/subscriptions/" + zero + "/providers/Microsoft.Compute/locations/north/quotas/"

// TestTheTableOfSizesIsTheClouds keeps the pack in step with the cloud: a machine
// of each size takes what the cloud says of both quotas.
func TestTheTableOfSizesIsTheClouds(t *testing.T) {
	t.Parallel()
	e := load(t)
	for _, size := range arm.Sizes() {
		for _, name := range []string{size.Name, strings.ToUpper(size.Name)} {
			l := lower(t, e, "simcloud_virtual_machine", state("planned", "id", "unknown", "resource_group_name", "net", "name", "m", "location", "north", "size", name), nil)
			want := escrow.Collect(
				escrow.Effect{Bucket: node(quotaID+"cores") + "#cores", Amount: int64(size.VCPUs)},
				escrow.Effect{Bucket: node(quotaID+"cores-"+size.Family) + "#cores", Amount: int64(size.VCPUs)})
			if diff := cmp.Diff(want, l.Request.Effects); diff != "" {
				t.Errorf("%s (-want +got):\n%s\n%s", name, diff, l.Notes)
			}
		}
	}
}

// node is the key of an object of the cloud as buckets spell it.
func node(id string) escrow.Key {
	return escrow.Key(strings.ToLower(strings.TrimSuffix(realm, "/subscriptions/"+zero) + id))
}

// thing is an object of the town that takes capacity: the attributes of its
// state beside the id, and the body of its write.
type thing struct {
	resourceType string
	attrs        map[string]cty.Value
	body         arm.Resource
}

func drawMachine(t *rapid.T, name string) thing {
	size := rapid.SampledFrom([]string{"Standard_B1s", "standard_b2s", "Standard_D2s_v5", "Standard_D4s_v5"}).Draw(t, "size")
	disks := rapid.SampledFrom([][]string{nil, {diskID + "one"}, {diskID + "two"}, {diskID + "one", strings.ToUpper(diskID) + "two"}}).Draw(t, "disks")
	return thing{
		"simcloud_virtual_machine",
		map[string]cty.Value{"name": cty.StringVal(name), "location": cty.StringVal("North"), "size": cty.StringVal(size), "data_disk_ids": list(disks)},
		arm.Resource{Location: "north", Properties: arm.Properties{VMSize: size, DataDisks: arm.NewReferences(disks)}},
	}
}

func list(ids []string) cty.Value {
	if len(ids) == 0 {
		return cty.NullVal(cty.Set(cty.String))
	}
	var vs []cty.Value
	for _, id := range ids {
		vs = append(vs, cty.StringVal(id))
	}
	return cty.SetVal(vs)
}

func drawInterface(t *rapid.T, name string) thing {
	in := networkID + "/subnets/" + rapid.SampledFrom([]string{"a", "B"}).Draw(t, "subnet")
	return thing{
		"simcloud_network_interface",
		map[string]cty.Value{"name": cty.StringVal(name), "location": cty.StringVal("north"), "subnet_id": cty.StringVal(in)},
		arm.Resource{Location: "north", Properties: arm.Properties{Subnet: arm.NewReference(in)}},
	}
}

// value is the state of the object at an id, nil for none.
func (o *thing) value(id string) cty.Value {
	if o == nil {
		return cty.NullVal(cty.DynamicPseudoType)
	}
	attrs := maps.Clone(o.attrs)
	for _, name := range attributes(o.resourceType) {
		if _, ok := attrs[name]; !ok {
			attrs[name] = cty.NullVal(cty.String)
		}
	}
	attrs["id"], attrs["resource_group_name"] = cty.StringVal(id), cty.StringVal("net")
	return cty.ObjectVal(attrs)
}

// TestThePackCountsAsTheCloudDoes changes machines and interfaces at random, one
// at a time. What the cloud has counted afterwards is what the effects said;
// what the effects say does not fit is refused, and nothing that they say fits is
// refused for lack of room.
func TestThePackCountsAsTheCloudDoes(t *testing.T) {
	t.Parallel()
	e := load(t)
	covered := map[string]int{}
	rapid.Check(t, func(t *rapid.T) {
		c := newPlot(t)
		there := map[string]*thing{}
		for range rapid.IntRange(1, 12).Draw(t, "changes") {
			id, after := drawChange(t, there)
			effects := effectsOf(t, e, id, there[id], after)
			before := c.buckets(t, e)
			refusal := c.put(t, id, after)
			covered[judge(t, before, c.buckets(t, e), effects, refusal)]++
			if refusal == nil {
				there[id] = after
			}
		}
	})
	for _, outcome := range []string{"taken", string(arm.CodeSubnetIsFull), string(arm.CodeDiskMaxSharesExceeded), string(arm.CodeOperationNotAllowed)} {
		if covered[outcome] == 0 {
			t.Errorf("never %s in %v", outcome, covered)
		}
	}
}

// drawChange chooses an object and what becomes of it, nil for nothing.
func drawChange(t *rapid.T, there map[string]*thing) (string, *thing) {
	name := rapid.SampledFrom([]string{"1", "2", "3", "4", "5", "6"}).Draw(t, "name")
	machine := rapid.Bool().Draw(t, "machine")
	id, draw := nicID+name, drawInterface
	if machine {
		id, draw = machineID+name, drawMachine
	}
	if there[id] != nil && rapid.IntRange(0, 3).Draw(t, "delete") == 0 {
		return id, nil
	}
	after := draw(t, name)
	return id, &after
}

func effectsOf(t *rapid.T, e *ruleengine.Engine, id string, before, after *thing) escrow.Effects {
	op := ruleengine.Operation{
		Provider: source, ProviderConfig: config(), Action: admission.Update,
		Prior: before.value(id), Planned: after.value(id), Sensitive: cty.NewPathSet(),
	}
	switch {
	case before == nil:
		op.Type, op.Action = after.resourceType, admission.Create
	case after == nil:
		op.Type, op.Action = before.resourceType, admission.Delete
	default:
		op.Type = after.resourceType
	}
	l, err := e.Lower(t.Context(), op, nil)
	if err != nil || len(l.Notes) > 0 {
		t.Fatalf("lower: %v, %v", err, l.Notes)
	}
	return l.Request.Effects
}

// judge compares what the effects said with what the cloud did.
func judge(t *rapid.T, before, after map[escrow.Key]admission.Reading, effects escrow.Effects, refusal *arm.Error) string {
	short := ""
	for _, x := range effects {
		if b := before[x.Bucket]; x.Amount > 0 && b.Use.Value+x.Amount > b.Limit.Value {
			short = fmt.Sprintf("%s is short: %+v, %+d", x.Bucket, b, x.Amount)
		}
	}
	if refusal == nil {
		if short != "" {
			t.Fatalf("%s, and the cloud took it", short)
		}
		for key, b := range before {
			if got, want := after[key].Use.Value, b.Use.Value+effects.Amount(key); got != want {
				t.Fatalf("%s has %d in use; the effects %v on %d said %d", key, got, effects, b.Use.Value, want)
			}
		}
		return "taken"
	}
	room := []arm.Code{arm.CodeSubnetIsFull, arm.CodeDiskMaxSharesExceeded, arm.CodeOperationNotAllowed}
	if slices.Contains(room, refusal.Code) != (short != "") {
		t.Fatalf("refused: %v; effects %v, short: %s", refusal, effects, short)
	}
	return string(refusal.Code)
}

// plot is a cloud in virtual time with two small subnets, two disks and quotas.
type plot struct {
	*simcloud.Cloud
	clock *simcloud.VirtualClock
}

func newPlot(t *rapid.T) plot {
	clock := simcloud.NewVirtualClock(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	cloud, err := simcloud.New(simcloud.Config{Clock: clock, Quotas: map[string]int{"north": 9, "north/standardBSFamily": 4, "north/standardDSv5Family": 8}})
	if err != nil {
		t.Fatal(err)
	}
	c := plot{cloud, clock}
	ground := []struct {
		id   string
		body arm.Resource
	}{
		{groupID, arm.Resource{Location: "north"}},
		{networkID, arm.Resource{Location: "north", Properties: arm.Properties{AddressSpace: &arm.AddressSpace{AddressPrefixes: []string{"10.0.0.0/16"}}}}},
		{networkID + "/subnets/a", arm.Resource{Properties: arm.Properties{AddressPrefix: "10.0.0.0/29"}}},
		{networkID + "/subnets/b", arm.Resource{Properties: arm.Properties{AddressPrefix: "10.0.0.8/29"}}},
		{diskID + "one", arm.Resource{Location: "north", Properties: arm.Properties{DiskSizeGB: 1, MaxShares: 1}}},
		{diskID + "two", arm.Resource{Location: "north", Properties: arm.Properties{DiskSizeGB: 1, MaxShares: 2}}},
	}
	for _, g := range ground {
		if refusal := c.put(t, g.id, &thing{body: g.body}); refusal != nil {
			t.Fatal(refusal)
		}
	}
	return c
}

// put writes an object, or deletes it, and waits for the end.
func (c plot) put(t *rapid.T, id string, o *thing) *arm.Error {
	call := simcloud.Call{Method: "DELETE", Path: id, Actor: "a"}
	if o != nil {
		body, err := json.Marshal(o.body)
		if err != nil {
			t.Fatal(err)
		}
		call.Method, call.Body = "PUT", body
	}
	_, refusal := c.Write(call)
	for c.clock.Step() {
	}
	return refusal
}

// buckets reads all buckets as the pack reads them from the provider's states.
func (c plot) buckets(t *rapid.T, e *ruleengine.Engine) map[escrow.Key]admission.Reading {
	all := map[escrow.Key]admission.Reading{}
	for resourceType, ids := range map[string][]string{
		"simcloud_subnet":       {networkID + "/subnets/a", networkID + "/subnets/b"},
		"simcloud_managed_disk": {diskID + "one", diskID + "two"},
		"simcloud_quota":        {quotaID + "cores", quotaID + "cores-standardBSFamily", quotaID + "cores-standardDSv5Family"},
	} {
		for _, id := range ids {
			r, refusal := c.Read(simcloud.Call{Method: "GET", Path: id})
			if refusal != nil {
				t.Fatal(refusal)
			}
			seen, ok, err := e.See(ruleengine.Object{Provider: source, ProviderConfig: config(), Type: resourceType, State: providerState(resourceType, id, r), Sensitive: cty.NewPathSet()})
			if err != nil || !ok || len(seen.Readings) != 1 || !seen.Terminal || seen.Observation.Decl.ID != graph.NodeID(node(id)) {
				t.Fatalf("see %s: %+v, %v, %v", id, seen, ok, err)
			}
			all[seen.Readings[0].Bucket] = seen.Readings[0]
		}
	}
	return all
}

// providerState is the part of the provider's state of an object that buckets
// and progress are read from; TestReadBackThroughTheProvider shows that the
// provider has it.
func providerState(resourceType, id string, r arm.Resource) cty.Value {
	p := r.Properties
	attrs := map[string]cty.Value{"id": cty.StringVal(id), "provisioning_state": cty.StringVal(string(p.ProvisioningState))}
	switch resourceType {
	case "simcloud_subnet":
		attrs["address_prefix"], attrs["used_addresses"] = cty.StringVal(p.AddressPrefix), number(p.UsedAddresses)
	case "simcloud_managed_disk":
		attached := cty.SetValEmpty(cty.String)
		for _, m := range p.AttachedMachines {
			attached = cty.SetVal(append(attached.AsValueSlice(), cty.StringVal(m.ID)))
		}
		attrs["max_shares"], attrs["attached_machine_ids"] = number(&p.MaxShares), attached
	case "simcloud_quota":
		attrs["limit"], attrs["used"] = number(p.Limit), number(p.CurrentValue)
	}
	return cty.ObjectVal(attrs)
}

func number(n *int) cty.Value {
	if n == nil {
		return cty.NullVal(cty.Number)
	}
	return cty.NumberIntVal(int64(*n))
}
