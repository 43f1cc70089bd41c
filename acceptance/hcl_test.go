// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package acceptance

import (
	"fmt"
	"strings"
)

// The configurations of the tests are put together from these blocks. All
// objects are in one resource group, named "shared", unless a test says otherwise.

func group() string {
	return `resource "simcloud_resource_group" "shared" {
  name     = "shared"
  location = "westeurope"
}
`
}

func network(name, tags string) string {
	return fmt.Sprintf(`resource "simcloud_virtual_network" "%[1]s" {
  name                = "%[1]s"
  resource_group_name = simcloud_resource_group.shared.name
  location            = "westeurope"
  address_space       = ["10.0.0.0/16"]
  tags                = { %[2]s }
}
`, name, tags)
}

// subnet knows its network by name only, as from another state. number makes its
// address range.
func subnet(network, name string, number int, more ...string) string {
	return fmt.Sprintf(`resource "simcloud_subnet" "%[2]s" {
  name                 = "%[2]s"
  resource_group_name  = "shared"
  virtual_network_name = "%[1]s"
  address_prefix       = "10.0.%[3]d.0/24"
  %[4]s
}
`, network, name, number, strings.Join(more, "\n  "))
}

func after(addresses ...string) string {
	return "depends_on = [" + strings.Join(addresses, ", ") + "]"
}

func securityGroup(name string) string {
	return fmt.Sprintf(`resource "simcloud_network_security_group" "%[1]s" {
  name                = "%[1]s"
  resource_group_name = simcloud_resource_group.shared.name
  location            = "westeurope"
}
`, name)
}

func rule(securityGroup, name string, priority int) string {
	return fmt.Sprintf(`resource "simcloud_network_security_rule" "%[2]s" {
  name                        = "%[2]s"
  resource_group_name         = "shared"
  network_security_group_name = "%[1]s"
  priority                    = %[3]d
  direction                   = "Inbound"
  access                      = "Allow"
  protocol                    = "Tcp"
  destination_port_range      = "%[3]d"
}
`, securityGroup, name, priority)
}

// cloudPrefix is the beginning of the ids of all objects in the group.
const cloudPrefix = "/subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/shared/providers/Microsoft.Network/"

func subnetID(network, name string) string {
	return cloudPrefix + "virtualNetworks/" + network + "/subnets/" + name
}

func securityGroupID(name string) string {
	return cloudPrefix + "networkSecurityGroups/" + name
}

func association(name, subnetID, securityGroupID string) string {
	return fmt.Sprintf(`resource "simcloud_subnet_network_security_group_association" "%s" {
  subnet_id                 = "%s"
  network_security_group_id = "%s"
}
`, name, subnetID, securityGroupID)
}

func networkInterface(name, subnetID, securityGroupID string) string {
	return fmt.Sprintf(`resource "simcloud_network_interface" "%[1]s" {
  name                      = "%[1]s"
  resource_group_name       = "shared"
  location                  = "westeurope"
  subnet_id                 = "%[2]s"
  network_security_group_id = "%[3]s"
}
`, name, subnetID, securityGroupID)
}
