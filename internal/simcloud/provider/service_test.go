// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package provider_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tfweaver/tfweaver/internal/simcloud"
	"github.com/tfweaver/tfweaver/internal/simcloud/arm"
)

// config is the first configuration of a step.
func config(t *testing.T, name string) values {
	t.Helper()
	all := steps()
	i := slices.IndexFunc(all, func(s step) bool { return s.name == name })
	if i < 0 {
		t.Fatalf("no step makes a %s", name)
	}
	return all[i].config
}

func TestRefusedCapacityIsADiagnostic(t *testing.T) {
	t.Parallel()
	d := newDriver(t, simcloud.Config{Quotas: map[string]int{"north": 4}}, nil)
	made := d.built("simcloud_virtual_machine")
	big, second := config(t, "simcloud_virtual_machine"), config(t, "simcloud_virtual_machine")
	big["name"], big["size"], big["data_disk_ids"] = "n", "Standard_D4s_v5", []string(nil)
	second["name"] = "n"
	for code, machine := range map[string]values{"OperationNotAllowed": big, "DiskMaxSharesExceeded": second} {
		after, diags := d.apply(t.Context(), instance{name: "simcloud_virtual_machine"}, machine)
		if len(diags) != 1 || !strings.Contains(diags[0], "Cannot create simcloud_virtual_machine: "+code) || after.values != nil {
			t.Errorf("got %v %s; want %s", after.values, diags, code)
		}
	}
	if _, diags := d.apply(t.Context(), made["simcloud_managed_disk"], nil); len(diags) != 1 || !strings.Contains(diags[0], "OperationNotAllowed") {
		t.Errorf("got %s", diags)
	}
}

func TestIDsInAnotherSpellingAreNoChange(t *testing.T) {
	t.Parallel()
	d := newDriver(t, simcloud.Config{}, nil)
	machine := d.built("simcloud_virtual_machine")["simcloud_virtual_machine"]
	r := d.object(machinePath)
	r.Properties.DataDisks[0].ID, r.Properties.VMSize = strings.ToUpper(diskPath), "STANDARD_B1S"
	d.outside(machinePath, r)
	d.noChange(d.read(machine), config(t, "simcloud_virtual_machine"))
	r.Properties.DataDisks = nil
	d.outside(machinePath, r)
	if got := d.read(machine).values["data_disk_ids"]; !cmp.Equal(got, []string{}) {
		t.Errorf("a disk that was taken away is not missed: %v", got)
	}
}

func TestARevisionMadeByAPermissionIsNoChange(t *testing.T) {
	t.Parallel()
	d := newDriver(t, simcloud.Config{}, nil)
	made := d.built("simcloud_function_permission")
	function := made["simcloud_function"]
	if got := function.values["revision"]; got != "1" {
		t.Errorf("a new function has the revision %v", got)
	}
	function = d.read(function)
	if got := function.values["revision"]; got != "2" {
		t.Errorf("a permission makes the revision %v", got)
	}
	d.noChange(function, config(t, "simcloud_function"))
}

// singles are the types of which the cloud takes one write at a time, with the
// code of its refusal.
func singles() map[string]string {
	return map[string]string{"simcloud_account_attachment": "ConcurrentModification", "simcloud_function_permission": "ResourceConflict"}
}

func TestASecondWriterIsRefused(t *testing.T) {
	t.Parallel()
	for name, code := range singles() {
		d := newDriver(t, simcloud.Config{}, nil)
		first := d.built("simcloud_function_permission")[name]
		if err := errors.Join(d.cloud.SetLatency("account_attachment", 1e6*time.Second), d.cloud.SetLatency("function_permission", 1e6*time.Second)); err != nil {
			t.Fatal(err)
		}
		path := first.values["id"].(string)
		body, err := json.Marshal(d.object(path))
		if err != nil {
			t.Fatal(err)
		}
		if _, refusal := d.cloud.Write(simcloud.Call{Method: "PUT", Path: path, Body: body}); refusal != nil {
			t.Fatal(refusal)
		}
		second := config(t, name)
		second["name"] = "second"
		if _, diags := d.apply(t.Context(), instance{name: name}, second); len(diags) != 1 || !strings.Contains(diags[0], "Cannot create "+name+": "+code) {
			t.Errorf("got %s; want %s", diags, code)
		}
	}
}

// TestSingleWritersRetry has several writers at once: with retries of conflicts,
// all end.
func TestSingleWritersRetry(t *testing.T) {
	t.Parallel()
	d := newDriver(t, simcloud.Config{}, values{"max_retries": 100})
	d.built("simcloud_function")
	const writers = 3
	results := make(chan []string)
	for name := range singles() {
		for i := range writers {
			go func() {
				c := config(t, name)
				c["name"] = fmt.Sprintf("w%d", i)
				_, diags := d.apply(t.Context(), instance{name: name}, c)
				results <- diags
			}()
		}
	}
	for range writers * len(singles()) {
		if diags := <-results; len(diags) > 0 {
			t.Errorf("got %s", diags)
		}
	}
}

// TestManyWritersOfOnePolicy replaces one document from many sides; every write
// is made under a token that was fresh, and the last one stands.
func TestManyWritersOfOnePolicy(t *testing.T) {
	t.Parallel()
	d := newDriver(t, simcloud.Config{}, values{"max_retries": 100, "token_retries": 1000})
	document := d.built("simcloud_policy_document")["simcloud_policy_document"]
	results := make(chan []string)
	const writers = 6
	for i := range writers {
		go func() {
			c := config(t, "simcloud_policy_document")
			c["statements"] = []string{fmt.Sprintf("s%d", i)}
			_, diags := d.apply(t.Context(), document, c)
			results <- diags
		}()
	}
	for range writers {
		if diags := <-results; len(diags) > 0 {
			t.Errorf("got %s", diags)
		}
	}
	if got := d.object(policyPath).Properties.Statements; len(got) != 1 {
		t.Errorf("the document has the statements %q", got)
	}
	updates := 0
	for _, e := range d.cloud.Events() {
		if e.ObjectType == arm.PolicyDocument.Type() && e.HTTPStatus == 202 {
			updates++
		}
	}
	if updates != writers {
		t.Errorf("%d updates of the document; want %d", updates, writers)
	}
}
