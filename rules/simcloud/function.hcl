# Copyright (c) The tfweaver authors
# SPDX-License-Identifier: MPL-2.0

resource "simcloud_function" {
  summary = "A function is rewritten, as a new revision, by every write of its permissions."

  id   = first_known(self.id, arm_id(local.subscription, self.resource_group_name, "Microsoft.Web/functions", self.name))
  name = self.name

  parent "simcloud_resource_group" {
    id = arm_scope(id, "resourceGroups")
  }
}

resource "simcloud_function_permission" {
  summary = "Writing a permission writes the function, too."

  id   = first_known(self.id, arm_id(local.subscription, self.resource_group_name, "Microsoft.Web/functions", self.function_name, "permissions", self.name))
  name = self.name

  parent "simcloud_function" {
    id = arm_scope(id, "functions")
  }

  on "write" {
    target "slot" {
      node   = parent
      facet  = "slot:write"
      mode   = "X"
      class  = "in_flight"
      until  = "operation"
      source = "ResourceConflict"
      why    = "The cloud takes one write of a function or of its permissions at a time"
    }
  }
}
