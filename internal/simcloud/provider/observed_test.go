// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package provider_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/tfweaver/tfweaver/internal/simcloud"
	"github.com/tfweaver/tfweaver/internal/simcloud/arm"
)

// begin starts a write of an object that never ends in the time of a test.
func (d *driver) begin(method, path string, r arm.Resource) {
	d.t.Helper()
	id := parse(d.t, path)
	if err := d.cloud.SetLatency(id.Kind.Key(), 1e6*time.Second); err != nil {
		d.t.Fatal(err)
	}
	call := simcloud.Call{Method: method, Path: path}
	if method == "PUT" {
		body, err := json.Marshal(r)
		if err != nil {
			d.t.Fatal(err)
		}
		call.Body = body
	}
	if holder, isPart := id.Parent(); isPart && id.Kind == arm.SecurityRule {
		call.IfMatch = d.object(holder.String()).Etag
	} else if id.Kind == arm.PolicyDocument {
		now, _ := d.cloud.Read(simcloud.Call{Path: path})
		call.IfMatch = now.Etag // empty if it is not there
	}
	if _, refusal := d.cloud.Write(call); refusal != nil {
		d.t.Fatal(refusal)
	}
}

// objectPath is the id of the object behind the id of a resource.
func objectPath(id string) string {
	return strings.TrimSuffix(id, "/networkSecurityGroupAssociation")
}

// lean is a configuration without what is empty: an import reads that as null.
func lean(config values) values {
	out := values{}
	for k, v := range config {
		switch v := v.(type) {
		case []string:
			if len(v) == 0 && k != "statements" {
				continue
			}
		case map[string]string:
			if len(v) == 0 {
				continue
			}
		}
		out[k] = v
	}
	return out
}

// until is the step of a resource, which needs those before it.
func until(t *testing.T, name string) step {
	t.Helper()
	all := steps()
	i := slices.IndexFunc(all, func(s step) bool { return s.name == name })
	if i < 0 {
		t.Fatalf("no step makes a %s", name)
	}
	return all[i]
}

// TestWhatIsBeingWrittenIsReadByAFreshProvider imports every type of resource while
// a write of it goes on: the answer is how it is now, at once.
func TestWhatIsBeingWrittenIsReadByAFreshProvider(t *testing.T) {
	t.Parallel()
	for _, s := range steps() {
		for _, state := range []arm.ProvisioningState{arm.Updating, arm.Deleting} {
			if s.name == "simcloud_quota" && state == arm.Deleting || strings.Contains(s.name, "association") && state == arm.Deleting {
				continue // the cloud does not delete them
			}
			t.Run(s.name+" "+string(state), func(t *testing.T) {
				t.Parallel()
				d := newDriver(t, simcloud.Config{}, nil)
				made := d.built(s.name)[s.name]
				method := "PUT"
				if state == arm.Deleting {
					method = "DELETE"
				}
				d.begin(method, objectPath(s.id), d.object(objectPath(s.id)))
				in := d.fresh().imported(s.name, s.id)
				if in.values == nil || in.values["provisioning_state"] != string(state) || in.values["uid"] != made.values["uid"] {
					t.Errorf("read as %v", in.values)
				}
				d.noChange(in, lean(s.config))
			})
		}
	}
}

// TestWhatIsBeingCreatedIsRead does so for each object that others do not need.
func TestWhatIsBeingCreatedIsRead(t *testing.T) {
	t.Parallel()
	for _, s := range steps() {
		if s.name == "simcloud_quota" || strings.Contains(s.name, "association") {
			continue // the cloud does not create them
		}
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			d := newDriver(t, simcloud.Config{}, nil)
			made := d.built(s.name)[s.name]
			r := d.object(s.id)
			d.destroy(made)
			if gone := d.fresh().imported(s.name, s.id); gone.values != nil {
				t.Errorf("what is not there is read as %v", gone.values)
			}
			d.begin("PUT", s.id, r)
			in := d.fresh().imported(s.name, s.id)
			if in.values == nil || in.values["provisioning_state"] != "Creating" || in.values["uid"] == made.values["uid"] || in.values["uid"] == "" {
				t.Errorf("read as %v, was %v", in.values, made.values)
			}
			d.noChange(in, lean(s.config))
		})
	}
}

// TestWhatIsNotThereIsImportedAsNothing reads an absent object of every type.
func TestWhatIsNotThereIsImportedAsNothing(t *testing.T) {
	t.Parallel()
	d := newDriver(t, simcloud.Config{Quotas: map[string]int{"south": 1}}, nil)
	for _, s := range steps() {
		if gone := d.imported(s.name, s.id); gone.values != nil {
			t.Errorf("%s is read as %v", s.name, gone.values)
		}
	}
}

// TestCountsChangeWithoutAPlan has others use a subnet, a disk and a quota.
func TestCountsChangeWithoutAPlan(t *testing.T) {
	t.Parallel()
	d := newDriver(t, simcloud.Config{}, nil)
	made := d.built("")
	type row struct {
		name, attribute string
		before, after   any
	}
	for _, c := range []row{
		{"simcloud_subnet", "used_addresses", "0", "1"},
		{"simcloud_managed_disk", "attached_machine_ids", []string{}, []string{machinePath}},
	} {
		old := made[c.name]
		if got := old.values[c.attribute]; !cmp.Equal(got, c.before) {
			t.Errorf("%s.%s is %v after creation; want %v", c.name, c.attribute, got, c.before)
		}
		now := d.read(old)
		if got := now.values[c.attribute]; !cmp.Equal(got, c.after) {
			t.Errorf("%s.%s is %v after a refresh; want %v", c.name, c.attribute, got, c.after)
		}
		d.noChange(now, until(t, c.name).config)
	}
	quota := made["simcloud_quota"]
	d.destroy(made["simcloud_virtual_machine"])
	if now := d.read(quota); quota.values["used"] != "1" || now.values["used"] != "0" {
		t.Errorf("used was %v and is %v", quota.values["used"], now.values["used"])
	}
}

// TestAnUpdateKnowsWhatItLeavesBehind wants no attribute that an update does not
// change to be unknown in its plan. The driver finds a result that is not as it
// was planned, also where others have changed the object meanwhile.
func TestAnUpdateKnowsWhatItLeavesBehind(t *testing.T) {
	t.Parallel()
	d := newDriver(t, simcloud.Config{}, nil)
	made := d.built("")
	changing := map[string][]string{"simcloud_function": {"revision"}}
	for _, s := range steps() {
		if s.later == nil {
			continue
		}
		planned, _ := d.plan(made[s.name], s.later)
		for attribute, v := range d.decode(d.typ(s.name), planned.PlannedState) {
			if v == any(tftypes.UnknownValue) && !slices.Contains(changing[s.name], attribute) {
				t.Errorf("%s.%s is not known after the plan of an update", s.name, attribute)
			}
		}
	}
	// The states are older than the interface and the machine.
	for _, name := range []string{"simcloud_managed_disk", "simcloud_quota"} {
		after := d.update(made[name], until(t, name).later)
		d.noChange(d.read(after), until(t, name).later)
	}
	config := until(t, "simcloud_subnet").config
	config["service_endpoints"] = []string{"Storage"}
	after := d.update(made["simcloud_subnet"], config)
	d.noChange(d.read(after), config)
}

// TestAnUpdateOfAnotherLifeIsNoticedByTheNextRefresh has an object that was
// created again by others.
func TestAnUpdateOfAnotherLifeIsNoticedByTheNextRefresh(t *testing.T) {
	t.Parallel()
	d := newDriver(t, simcloud.Config{}, nil)
	s := until(t, "simcloud_public_ip")
	made := d.built(s.name)[s.name]
	d.destroy(d.imported(s.name, s.id))
	again := d.create(s.name, s.config)
	if again.values["uid"] == made.values["uid"] {
		t.Fatal("two lives have one name")
	}
	after := d.update(made, s.later)
	if now := d.read(after); after.values["uid"] != made.values["uid"] || now.values["uid"] != again.values["uid"] {
		t.Errorf("updated as %v, read as %v", after.values, now.values)
	}
}

func TestAnInterfaceThatMovesGetsAnAddress(t *testing.T) {
	t.Parallel()
	d := newDriver(t, simcloud.Config{}, nil)
	made := d.built("")["simcloud_network_interface"]
	other := until(t, "simcloud_subnet").config
	other["name"], other["address_prefix"] = "b", "10.0.9.0/24"
	subnet := d.create("simcloud_subnet", other)
	config := until(t, "simcloud_network_interface").config
	config["subnet_id"] = subnet.values["id"]
	after := d.update(made, config)
	if made.values["private_ip_address"] != "10.0.1.4" || after.values["private_ip_address"] != "10.0.9.4" {
		t.Errorf("the address was %v and is %v", made.values["private_ip_address"], after.values["private_ip_address"])
	}
}

func TestAFailedUpdateIsRepairedByTheNext(t *testing.T) {
	t.Parallel()
	d := newDriver(t, simcloud.Config{}, nil)
	s := until(t, "simcloud_public_ip")
	made := d.built(s.name)[s.name]
	d.cloud.FailNext(parse(t, s.id), "Odd", "odd")
	if _, diags := d.apply(t.Context(), made, s.later); len(diags) != 1 {
		t.Fatalf("got %s", diags)
	}
	failed := d.read(made)
	if failed.values["provisioning_state"] != "Failed" {
		t.Errorf("read as %v", failed.values)
	}
	if after := d.update(failed, s.config); after.values["provisioning_state"] != "Succeeded" {
		t.Errorf("updated as %v", after.values)
	}
}
