# Copyright (c) The tfweaver authors
# SPDX-License-Identifier: MPL-2.0

resource "simcloud_quota" {
  summary = "A quota bounds the processors of the machines in a region, of all sizes or of one family of sizes."

  id = first_known(
    self.id,
    "/subscriptions/${local.subscription}/providers/Microsoft.Compute/locations/${self.location}/quotas/${coalesce(self.family, "") == "" ? "cores" : "cores-${self.family}"}",
  )

  parent "realm" {
    id = arm_scope(id, "subscriptions")
  }

  volatile = ["used"]

  bucket "cores" {
    limit  = self.limit
    use    = self.used
    source = "OperationNotAllowed"
    why    = "The machines of a region, running or not, have no more processors than the region's quota and their family's allow"
  }
}
