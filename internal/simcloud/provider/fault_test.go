// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package provider_test

import (
	"strings"
	"testing"
	"time"

	"github.com/tfweaver/tfweaver/internal/simcloud"
	"github.com/tfweaver/tfweaver/internal/simcloud/activity"
	"github.com/tfweaver/tfweaver/internal/simcloud/arm"
)

// TestALostAnswerLeavesNothingInTheState creates an object of which the provider
// never learns; a fresh one finds it.
func TestALostAnswerLeavesNothingInTheState(t *testing.T) {
	t.Parallel()
	d := newDriver(t, simcloud.Config{Faults: []simcloud.Fault{{Kind: arm.PublicIPAddress, DropAnswer: true}}}, nil)
	d.built("simcloud_resource_group")
	s := until(t, "simcloud_public_ip")
	in, diags := d.apply(t.Context(), instance{name: s.name}, s.config)
	if len(diags) != 1 || in.values != nil {
		t.Fatalf("got %v %s", in.values, diags)
	}
	for deadline := time.Now().Add(time.Minute); d.cloud.InFlight() > 0; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the operation goes on for a minute")
		}
	}
	found := d.fresh().imported(s.name, s.id)
	if found.values == nil || found.values["provisioning_state"] != "Succeeded" {
		t.Errorf("found %v", found.values)
	}
	d.noChange(found, s.config)
}

func TestAnOperationThatFailsLaterLeavesATaintedObject(t *testing.T) {
	t.Parallel()
	d := newDriver(t, simcloud.Config{Faults: []simcloud.Fault{{Kind: arm.VirtualMachine, FailAfter: time.Millisecond, Code: "AllocationFailed"}}}, nil)
	made := d.built("simcloud_managed_disk")
	s := until(t, "simcloud_virtual_machine")
	in, diags := d.apply(t.Context(), instance{name: s.name}, s.config)
	if len(diags) != 1 || !strings.Contains(diags[0], "Cannot create simcloud_virtual_machine: AllocationFailed") {
		t.Errorf("got %s", diags)
	}
	if in.values["id"] != s.id || in.values["provisioning_state"] != "Failed" || in.values["uid"] == "" {
		t.Fatalf("the state is %v", in.values)
	}
	d.destroy(in)
	if disk := d.read(made["simcloud_managed_disk"]); len(disk.values["attached_machine_ids"].([]string)) != 0 {
		t.Errorf("the disk is still attached: %v", disk.values)
	}
}

// TestTheLogSaysWhoRunsTheConfiguration gives the names of a run in the environment.
func TestTheLogSaysWhoRunsTheConfiguration(t *testing.T) {
	t.Parallel()
	d := newDriver(t, simcloud.Config{}, nil)
	d.env = map[string]string{"SIMCLOUD_SESSION": "s-1", "SIMCLOUD_CORRELATION_ID": "run-1"}
	d.fresh().built("simcloud_resource_group")
	log, err := activity.Pair(d.cloud.Events())
	if err != nil || len(log.Operations) != 1 {
		t.Fatalf("%+v, %v", log, err)
	}
	if o := log.Operations[0]; o.Session != "s-1" || o.CorrelationID != "run-1" || o.Incarnation != 1 || o.UID == "" || !o.Creates {
		t.Errorf("operation %+v", o)
	}
}
