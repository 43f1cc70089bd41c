# Copyright (c) The tfweaver authors
# SPDX-License-Identifier: MPL-2.0

pack "simcloud" {
  version           = "0.1.0"
  provider          = "*/tfweaver/simcloud"
  provider_versions = ">= 0.1.0-0"

  # The cloud compares ids without regard to case.
  canonical = lower(id)

  # The cloud decides about a call when it arrives, and an operation that it has
  # accepted shows at once. The slowest operations end within half an hour.
  lands    = "2s"
  timeout  = "30m"
  terminal = contains(["Succeeded", "Failed", "Canceled"], self.provisioning_state)

  # An error of the provider is a summary and a detail, and the detail begins
  # with the cloud's answer. Only a status from 400 to 499 at that place says that
  # the cloud took nothing; codes of error blocks are looked for nowhere else.
  error_code = "\\A[^\\n]*\\n(?P<code>[A-Za-z]+) \\(4[0-9]{2} [^)\\n]*\\): "

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
