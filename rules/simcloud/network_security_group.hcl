# Copyright (c) The tfweaver authors
# SPDX-License-Identifier: MPL-2.0

resource "simcloud_network_security_group" {
  summary = "A security group is one document together with its rules."

  id   = first_known(self.id, arm_id(local.subscription, self.resource_group_name, "Microsoft.Network/networkSecurityGroups", self.name))
  name = self.name

  parent "simcloud_resource_group" {
    id = arm_scope(id, "resourceGroups")
  }
}

resource "simcloud_network_security_rule" {
  summary = "A rule is part of its group's document; writing it needs the group's current change token."

  id   = first_known(self.id, arm_id(local.subscription, self.resource_group_name, "Microsoft.Network/networkSecurityGroups", self.network_security_group_name, "securityRules", self.name))
  name = self.name

  parent "simcloud_network_security_group" {
    id = arm_scope(id, "networkSecurityGroups")
  }

  on "write" {
    target "slot" {
      node   = parent
      facet  = "slot:rules"
      mode   = "X"
      class  = "lost_update"
      until  = "operation"
      source = "PreconditionFailed, AnotherOperationInProgress"
      why    = "The cloud takes one write of a security group or of its rules at a time, made with the group's current change token"
    }
  }
}

resource "simcloud_subnet_network_security_group_association" {
  summary = "An association is a write of the subnet that puts it under a security group; the group is written too."

  id = first_known(self.id, "${self.subnet_id}/networkSecurityGroupAssociation")

  parent "simcloud_subnet" {
    id = arm_scope(id, "subnets")
  }

  reference "security_group" {
    ids    = self.network_security_group_id
    type   = "simcloud_network_security_group"
    kind   = "references"
    source = "InUseNetworkSecurityGroupCannotBeDeleted"
    why    = "A security group that a subnet uses must stay there"
  }

  edge "subnet_to_group" {
    from = parent
    to   = ref("security_group")
    kind = "references"
  }

  on "write" {
    target "subnet" {
      node   = parent
      mode   = "X"
      class  = "in_flight"
      until  = "operation"
      source = "AnotherOperationInProgress"
      why    = "An association is a write of the subnet"
    }
    target "slot" {
      node   = ancestor(2)
      facet  = "slot:write"
      mode   = "X"
      class  = "in_flight"
      until  = "operation"
      source = "AnotherOperationInProgress"
      why    = "The cloud takes one write of a virtual network or of its subnets at a time"
    }
    target "rules" {
      node   = ref("security_group")
      facet  = "slot:rules"
      mode   = "X"
      class  = "in_flight"
      until  = "operation"
      source = "AnotherOperationInProgress"
      why    = "Associating a subnet writes the security group too"
    }
  }

  # A subnet that has a security group already loses it to the new one.
  on "create" {
    target "replaced" {
      node   = edge("references", "out", parent)
      facet  = "slot:rules"
      mode   = "X"
      class  = "in_flight"
      until  = "operation"
      source = "AnotherOperationInProgress"
      why    = "Associating a subnet takes it off the security group it had, which is then being written"
    }
  }
}
