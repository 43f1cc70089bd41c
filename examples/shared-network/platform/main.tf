terraform {
  required_providers {
    simcloud = {
      source = "tfweaver/simcloud"
    }
  }
}

# Endpoint and actor come from SIMCLOUD_ENDPOINT and SIMCLOUD_ACTOR.
provider "simcloud" {}

variable "owner" {
  description = "Who answers for the network."
  type        = string
  default     = "platform"
}

resource "simcloud_resource_group" "network" {
  name     = "network"
  location = "westeurope"
}

resource "simcloud_virtual_network" "hub" {
  name                = "hub"
  resource_group_name = simcloud_resource_group.network.name
  location            = simcloud_resource_group.network.location
  address_space       = ["10.0.0.0/16"]
  tags                = { owner = var.owner }
}

resource "simcloud_network_security_group" "baseline" {
  name                = "baseline"
  resource_group_name = simcloud_resource_group.network.name
  location            = simcloud_resource_group.network.location
}
