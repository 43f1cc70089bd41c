# Copyright (c) The tfweaver authors
# SPDX-License-Identifier: MPL-2.0

resource "simcloud_resource_group" {
  summary = "A group holds everything else; deleting it deletes what is in it."

  id   = first_known(self.id, arm_id(local.subscription, self.name))
  name = self.name

  parent "realm" {
    id = arm_scope(id, "subscriptions")
  }

  # A write of the group's own document leaves what is in the group alone.
  on "update" {
    writes = "config"
  }
}
