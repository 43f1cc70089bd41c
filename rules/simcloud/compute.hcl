# Copyright (c) The tfweaver authors
# SPDX-License-Identifier: MPL-2.0

resource "simcloud_managed_disk" {
  summary = "A disk is attached to as many machines at once as it has shares."

  id   = first_known(self.id, arm_id(local.subscription, self.resource_group_name, "Microsoft.Compute/disks", self.name))
  name = self.name

  parent "simcloud_resource_group" {
    id = arm_scope(id, "resourceGroups")
  }

  volatile = ["attached_machine_ids"]

  bucket "slots" {
    limit  = self.max_shares
    use    = length(self.attached_machine_ids)
    source = "DiskMaxSharesExceeded"
    why    = "A disk is attached to no more machines at once than it has shares"
  }
}

resource "simcloud_virtual_machine" {
  summary = "A machine uses interfaces and is given disks; giving it a disk writes the disk."

  id   = first_known(self.id, arm_id(local.subscription, self.resource_group_name, "Microsoft.Compute/virtualMachines", self.name))
  name = self.name

  parent "simcloud_resource_group" {
    id = arm_scope(id, "resourceGroups")
  }

  reference "interface" {
    ids    = self.network_interface_ids
    type   = "simcloud_network_interface"
    kind   = "attaches"
    source = "NicInUse, AnotherOperationInProgress"
    why    = "An interface of a machine cannot be written while the machine is"
  }

  reference "disk" {
    ids    = self.data_disk_ids
    type   = "simcloud_managed_disk"
    kind   = "attaches"
    source = "OperationNotAllowed, DiskMaxSharesExceeded"
    why    = "A disk that a machine has must stay there"
  }

  consumes "region" {
    of     = object("simcloud_quota", "${arm_scope(id, "subscriptions")}/providers/Microsoft.Compute/locations/${self.location}/quotas/cores")
    bucket = "cores"
    amount = table.sizes[lower(self.size)].cores
    source = "OperationNotAllowed"
    why    = "The processors of a machine count against the quota of its region, whether it runs or not"
  }

  consumes "family" {
    of     = object("simcloud_quota", "${arm_scope(id, "subscriptions")}/providers/Microsoft.Compute/locations/${self.location}/quotas/cores-${table.sizes[lower(self.size)].family}")
    bucket = "cores"
    amount = table.sizes[lower(self.size)].cores
    source = "OperationNotAllowed"
    why    = "The processors of a machine count against the quota of its size's family in its region, whether it runs or not"
  }

  consumes "slot" {
    of     = ref("disk")
    bucket = "slots"
    amount = 1
    source = "DiskMaxSharesExceeded"
    why    = "A machine takes one share of each of its disks"
  }

  # Machines that share a disk exclude one another only while one of them is
  # written; how many may have the disk afterwards is a matter of its slots.
  on "write" {
    target "attach" {
      node   = ref("disk")
      facet  = "slot:attach"
      mode   = "X"
      class  = "in_flight"
      until  = "operation"
      source = "AnotherOperationInProgress"
      why    = "Attaching, detaching and every other write of a machine also writes its disks"
    }
  }
}
