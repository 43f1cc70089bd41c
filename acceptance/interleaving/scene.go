// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package interleaving

import (
	"fmt"
	"time"

	"github.com/tfweaver/tfweaver/acceptance/lab"
)

// The actors: whose run is interrupted, and who slips in.
const (
	first  = "first"
	second = "second"
)

// Names of what is in the state.
const (
	net = "net"
	// kept is there from the beginning, and is what is destroyed, or taken out of
	// the state and back.
	kept = "kept"
	// extra is what the plain Terraform makes, if it comes first.
	extra = "extra"
	// made and last are what the run makes.
	made = "made"
	last = "last"
)

func address(name string) string { return "simcloud_subnet." + name }

func subnet(name string, number int) string {
	return fmt.Sprintf(`resource "simcloud_subnet" "%[1]s" {
  name                 = "%[1]s"
  resource_group_name  = simcloud_virtual_network.net.resource_group_name
  virtual_network_name = simcloud_virtual_network.net.name
  address_prefix       = "10.0.%[2]d.0/24"
}
`, name, number)
}

// network is the network in the state; its group belongs to nobody.
func network() string {
	return fmt.Sprintf(`resource "simcloud_virtual_network" "net" {
  name                = %q
  resource_group_name = "shared"
  location            = %q
  address_space       = ["10.0.0.0/16"]
  tags                = { team = "net" }
}
`, net, lab.Location)
}

// before is the configuration that was applied before the round, after the one
// that both work with.
func before() string { return network() + subnet(kept, 1) }

func after() string { return before() + subnet(extra, 2) + subnet(made, 3) + subnet(last, 4) }

// without is after without what was destroyed.
func without() string { return network() + subnet(extra, 2) + subnet(made, 3) + subnet(last, 4) }

// cloud needs some time for everything, so that runs meet.
func cloud() lab.CloudConfig {
	return lab.CloudConfig{Latencies: map[string]time.Duration{
		"resource_group": 10 * time.Millisecond, "virtual_network": 100 * time.Millisecond, "subnet": 300 * time.Millisecond,
	}}
}
