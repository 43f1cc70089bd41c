terraform {
  required_providers {
    simcloud = {
      source = "tfweaver/simcloud"
    }
  }
}

# Endpoint and actor come from SIMCLOUD_ENDPOINT and SIMCLOUD_ACTOR.
provider "simcloud" {}

resource "simcloud_resource_group" "fleet" {
  name     = "fleet"
  location = "westeurope"
}
