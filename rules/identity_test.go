// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package rules_test

import (
	"strings"
	"testing"

	"github.com/tfweaver/tfweaver/internal/core/graph"
	"github.com/tfweaver/tfweaver/internal/ruleengine/ruletest"
)

// self is the node of a subnet under a provider block.
func self(t *testing.T, provider, group, name string) graph.NodeID {
	t.Helper()
	src := state("planned", "id", "unknown", "resource_group_name", group, "virtual_network_name", "v", "name", name)
	return lower(t, load(t), "simcloud_subnet", src+"provider {\n"+provider+"\n}\n", nil).Request.Self
}

func TestOneObjectHasOneNode(t *testing.T) {
	t.Parallel()
	const inherit = "endpoint = null\nsubscription_id = null"
	want := self(t, inherit, "net", "a")
	for name, c := range map[string][3]string{
		"another spelling":           {inherit, "NET", "A"},
		"the endpoint written out":   {"endpoint = \"HTTP://LOCALHOST:8080/\"\nsubscription_id = null", "net", "a"},
		"the endpoint in IPv6":       {"endpoint = \"http://[::ffff:127.0.0.1]:8080\"\nsubscription_id = null", "net", "a"},
		"the subscription, too":      {"endpoint = null\nsubscription_id = \"" + zero + "\"", "net", "a"},
		"an empty subscription":      {"endpoint = null\nsubscription_id = \"\"", "net", "a"},
		"another actor, another key": {inherit + "\nactor = \"bob\"\ntoken = \"t\"", "net", "a"},
	} {
		if got := self(t, c[0], c[1], c[2]); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	for name, c := range map[string][3]string{
		"another cloud":        {"endpoint = \"http://127.0.0.1:8081\"\nsubscription_id = null", "net", "a"},
		"a socket":             {"endpoint = \"unix:///run/sim.sock\"\nsubscription_id = null", "net", "a"},
		"another subscription": {"endpoint = null\nsubscription_id = \"" + strings.ReplaceAll(zero, "0", "1") + "\"", "net", "a"},
		"another group":        {inherit, "far", "a"},
		"another name":         {inherit, "net", "b"},
	} {
		if got := self(t, c[0], c[1], c[2]); got == want {
			t.Errorf("%s has the same node %s", name, got)
		}
	}
}

// The id that the cloud gave is the id that the rule foresaw.
func TestTheCloudAgreesOnIDs(t *testing.T) {
	t.Parallel()
	e := load(t)
	for _, s := range town() {
		op, err := ruletest.Parse(s.src, s.resourceType, attributes(s.resourceType)...)
		if err != nil {
			t.Fatal(err)
		}
		op.Provider, op.ProviderConfig = source, config()
		foreseen, ok := e.CloudID(op)
		if !ok || foreseen != s.path {
			t.Errorf("%s: foreseen %q, the cloud's is %q", s.name, foreseen, s.path)
		}
	}
}

// A reference into another subscription stands in that subscription's realm.
func TestReferenceIntoAnotherSubscription(t *testing.T) {
	t.Parallel()
	other := "/subscriptions/B/resourceGroups/g" + typed + "virtualNetworks/v/subnets/s"
	l := lower(t, load(t), "simcloud_network_interface",
		state("planned", "id", "unknown", "resource_group_name", "net", "name", "n", "subnet_id", other), nil)
	realms := map[graph.NodeID]bool{}
	for _, d := range l.Request.Nodes {
		if d.Kind == graph.Realm {
			realms[d.ID] = true
		}
	}
	if !realms[realm] || !realms["simcloud:127.0.0.1:8080/subscriptions/b"] || len(realms) != 2 {
		t.Errorf("realms: %v", realms)
	}
}

// What is not the id of a subnet is left to the provider to refuse.
func TestAReferenceToSomethingElse(t *testing.T) {
	t.Parallel()
	for _, id := range []string{networkID, groupID, "subnet-1", "/", nsgID + "w", strings.Repeat("/x", 2000)} {
		l := lower(t, load(t), "simcloud_network_interface",
			state("planned", "id", "unknown", "resource_group_name", "net", "name", "n", "subnet_id", id), nil)
		if len(l.Notes) != 2 || !strings.HasPrefix(l.Notes[0], "reference subnet is left out: ") || l.Notes[1] != "capacity address is left out: the reference is not usable" {
			t.Errorf("%s: notes %v", id, l.Notes)
		}
	}
}
