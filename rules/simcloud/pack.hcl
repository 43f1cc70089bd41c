# Copyright (c) The tfweaver authors
# SPDX-License-Identifier: MPL-2.0

pack "simcloud" {
  version           = "0.1.0"
  provider          = "*/tfweaver/simcloud"
  provider_versions = ">= 0.1.0-0"

  # The cloud compares ids without regard to case.
  canonical = lower(id)

  locals {
    endpoint     = coalesce(provider.endpoint, env("SIMCLOUD_ENDPOINT"))
    subscription = coalesce(
      provider.subscription_id == "" ? "00000000-0000-0000-0000-000000000000" : provider.subscription_id,
      env("SIMCLOUD_SUBSCRIPTION"),
      "00000000-0000-0000-0000-000000000000",
    )
  }

  # Two endpoints are two clouds: their objects have equal ids and nothing to do
  # with each other.
  realm {
    type      = "simcloud_subscription"
    namespace = "simcloud:${authority(local.endpoint)}"
    id        = arm_id(local.subscription)
    remedy    = "set endpoint in the provider \"simcloud\" block, or SIMCLOUD_ENDPOINT in the environment"
  }
}
