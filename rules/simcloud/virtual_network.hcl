# Copyright (c) The tfweaver authors
# SPDX-License-Identifier: MPL-2.0

resource "simcloud_virtual_network" {
  summary = "A network is one document together with its subnets."

  id   = first_known(self.id, arm_id(local.subscription, self.resource_group_name, "Microsoft.Network/virtualNetworks", self.name))
  name = self.name

  parent "simcloud_resource_group" {
    id = arm_scope(id, "resourceGroups")
  }

  # An update excludes writes of the subnets, not the objects that use them:
  # an interface may be attached while the network's address space grows.
  on "update" {
    writes = "config"

    target "slot" {
      node   = self
      facet  = "slot:write"
      mode   = "X"
      class  = "in_flight"
      until  = "operation"
      source = "AnotherOperationInProgress"
      why    = "The cloud takes one write of a virtual network or of its subnets at a time"
    }
  }
}

resource "simcloud_subnet" {
  summary = "A subnet is part of its network's document."

  id   = first_known(self.id, arm_id(local.subscription, self.resource_group_name, "Microsoft.Network/virtualNetworks", self.virtual_network_name, "subnets", self.name))
  name = self.name

  parent "simcloud_virtual_network" {
    id = arm_scope(id, "virtualNetworks")
  }

  volatile = ["used_addresses"]

  # The cloud keeps the first four addresses and the last one for itself.
  bucket "addresses" {
    limit  = usable_addresses(self.address_prefix, 5)
    use    = self.used_addresses
    source = "SubnetIsFull"
    why    = "A subnet has only the addresses of its prefix, five of which the cloud keeps"
  }

  on "write" {
    target "slot" {
      node   = parent
      facet  = "slot:write"
      mode   = "X"
      class  = "in_flight"
      until  = "operation"
      source = "AnotherOperationInProgress"
      why    = "The cloud takes one write of a virtual network or of its subnets at a time"
    }
  }
}
