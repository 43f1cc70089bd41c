// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package killing

import (
	"fmt"
	"strings"
	"time"

	"github.com/tfweaver/tfweaver/acceptance/lab"
)

// The two networks of every round.
const (
	left  = "left"
	right = "right"
)

// session is one run of a round.
type session struct {
	name string
	// network is the one that it writes subnets of; empty for the bystander.
	network string
	hcl     string
}

// sessions are those of which one may be killed: the first two need the same
// network, the third one has another to itself.
func sessions() []session {
	return []session{
		{"anna", left, subnets(left, 10, "anna1", "anna2")},
		{"bert", left, subnets(left, 20, "bert1")},
		{"carl", right, subnets(right, 30, "carl1", "carl2")},
	}
}

// bystander needs nothing that another session needs.
func bystander() session {
	return session{name: "bystander", hcl: `resource "simcloud_public_ip" "bystander" {
  name                = "bystander"
  resource_group_name = "shared"
  location            = "westeurope"
}
`}
}

// rival needs what the session with the killed process needs.
func rival(r Round) session {
	network := left
	for _, s := range sessions() {
		if s.name == r.Victim {
			network = s.network
		}
	}
	return session{"rival", network, subnets(network, 90, "rival1")}
}

// subnets is a chain of subnets of one network, each made after the one before.
func subnets(network string, number int, names ...string) string {
	var hcl strings.Builder
	for n, name := range names {
		after := ""
		if n > 0 {
			after = "depends_on = [simcloud_subnet." + names[n-1] + "]"
		}
		fmt.Fprintf(&hcl, `resource "simcloud_subnet" "%[1]s" {
  name                 = "%[1]s"
  resource_group_name  = "shared"
  virtual_network_name = "%[2]s"
  address_prefix       = "10.0.%[3]d.0/24"
  %[4]s
}
`, name, network, number+n, after)
	}
	return hcl.String()
}

// cloud is fast where nothing is to be learnt, and slow enough with what the
// sessions make that many kills meet a call in flight.
func cloud() lab.CloudConfig {
	return lab.CloudConfig{Latencies: map[string]time.Duration{
		"resource_group": 10 * time.Millisecond, "virtual_network": 10 * time.Millisecond,
		"subnet": 800 * time.Millisecond, "public_ip": 300 * time.Millisecond,
	}}
}
