# Copyright (c) The tfweaver authors
# SPDX-License-Identifier: MPL-2.0

resource "simcloud_policy_document" {
  summary = "A policy document is written whole, with its current change token; writers replace one another's statements."

  id   = first_known(self.id, arm_id(local.subscription, self.resource_group_name, "Microsoft.Authorization/policyDocuments", self.name))
  name = self.name

  parent "simcloud_resource_group" {
    id = arm_scope(id, "resourceGroups")
  }
}
