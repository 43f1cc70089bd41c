# Copyright (c) The tfweaver authors
# SPDX-License-Identifier: MPL-2.0

resource "simcloud_account_attachment" {
  summary = "Attachments stand in the subscription itself, which takes one write of them at a time."

  id   = first_known(self.id, "/subscriptions/${local.subscription}/providers/Microsoft.Management/attachments/${self.name}")
  name = self.name

  parent "realm" {
    id = arm_scope(id, "subscriptions")
  }

  # Only this type has the one place: everything else in the subscription goes
  # on.
  on "write" {
    target "slot" {
      node   = singleton(realm)
      facet  = "slot:attachments"
      mode   = "X"
      class  = "in_flight"
      until  = "operation"
      source = "ConcurrentModification"
      why    = "The cloud takes one write of an attachment in a subscription at a time"
    }
  }
}
