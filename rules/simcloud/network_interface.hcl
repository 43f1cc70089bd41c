# Copyright (c) The tfweaver authors
# SPDX-License-Identifier: MPL-2.0

resource "simcloud_network_interface" {
  summary = "An interface takes an address of its subnet, and may use a public address and a security group."

  id   = first_known(self.id, arm_id(local.subscription, self.resource_group_name, "Microsoft.Network/networkInterfaces", self.name))
  name = self.name

  parent "simcloud_resource_group" {
    id = arm_scope(id, "resourceGroups")
  }

  # Interfaces share their subnet: they exclude writes of the subnet and not one
  # another.
  reference "subnet" {
    ids    = self.subnet_id
    type   = "simcloud_subnet"
    kind   = "attaches"
    source = "InUseSubnetCannotBeDeleted"
    why    = "The subnet of an interface cannot be written while the interface is"
  }

  consumes "address" {
    of     = ref("subnet")
    bucket = "addresses"
    amount = 1
    source = "SubnetIsFull"
    why    = "An interface takes one address of its subnet"
  }

  reference "public_ip" {
    ids    = self.public_ip_id
    type   = "simcloud_public_ip"
    kind   = "attaches"
    source = "PublicIPAddressCannotBeDeleted"
    why    = "The public address of an interface cannot be written while the interface is"
  }

  reference "security_group" {
    ids    = self.network_security_group_id
    type   = "simcloud_network_security_group"
    kind   = "references"
    facets = ["life", "slot:rules"]
    source = "AnotherOperationInProgress"
    why    = "The security group of an interface cannot be written while the interface is"
  }
}

resource "simcloud_public_ip" {
  summary = "A public address is used by one interface at most."

  id   = first_known(self.id, arm_id(local.subscription, self.resource_group_name, "Microsoft.Network/publicIPAddresses", self.name))
  name = self.name

  parent "simcloud_resource_group" {
    id = arm_scope(id, "resourceGroups")
  }
}
