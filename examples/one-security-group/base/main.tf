terraform {
  required_providers {
    simcloud = {
      source = "tfweaver/simcloud"
    }
  }
}

# Endpoint and actor come from SIMCLOUD_ENDPOINT and SIMCLOUD_ACTOR.
provider "simcloud" {}

resource "simcloud_resource_group" "edge" {
  name     = "edge"
  location = "westeurope"
}

resource "simcloud_network_security_group" "edge" {
  name                = "edge"
  resource_group_name = simcloud_resource_group.edge.name
  location            = simcloud_resource_group.edge.location
}
