# Copyright (c) The tfweaver authors
# SPDX-License-Identifier: MPL-2.0

# What machines of each size take of the quotas. The cloud ignores case in the
# name of a size, so the keys are in lower case. A size that is not here counts
# nowhere, and the forecast says so.
table "sizes" {
  source = "the sizes the simulated cloud offers"

  rows = {
    standard_b1s     = { cores = 1, family = "standardBSFamily" }
    standard_b2s     = { cores = 2, family = "standardBSFamily" }
    standard_b4ms    = { cores = 4, family = "standardBSFamily" }
    standard_d2s_v5  = { cores = 2, family = "standardDSv5Family" }
    standard_d4s_v5  = { cores = 4, family = "standardDSv5Family" }
    standard_d8s_v5  = { cores = 8, family = "standardDSv5Family" }
    standard_d16s_v5 = { cores = 16, family = "standardDSv5Family" }
    standard_e2s_v5  = { cores = 2, family = "standardESv5Family" }
    standard_e4s_v5  = { cores = 4, family = "standardESv5Family" }
    standard_e8s_v5  = { cores = 8, family = "standardESv5Family" }
    standard_f2s_v2  = { cores = 2, family = "standardFSv2Family" }
    standard_f4s_v2  = { cores = 4, family = "standardFSv2Family" }
    standard_f8s_v2  = { cores = 8, family = "standardFSv2Family" }
  }
}
