# Copyright (c) The tfweaver authors
# SPDX-License-Identifier: MPL-2.0

resource "simcloud_managed_disk" {
  summary = "A disk is attached to as many machines at once as it has shares."

  id   = first_known(self.id, arm_id(local.subscription, self.resource_group_name, "Microsoft.Compute/disks", self.name))
  name = self.name

  parent "simcloud_resource_group" {
    id = arm_scope(id, "resourceGroups")
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

  # Machines that share a disk exclude one another only while one of them is
  # written; how many may have the disk afterwards is not said here.
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
