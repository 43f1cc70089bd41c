terraform {
  required_providers {
    simcloud = {
      source = "tfweaver/simcloud"
    }
  }
}

# Endpoint and actor come from SIMCLOUD_ENDPOINT and SIMCLOUD_ACTOR.
provider "simcloud" {}

variable "suffix" {
  description = "Added to every name, so that several copies fit into one cloud."
  type        = string
  default     = ""
}

resource "simcloud_resource_group" "shared" {
  name     = "shared${var.suffix}"
  location = "westeurope"
}

resource "simcloud_virtual_network" "shared" {
  name                = "shared${var.suffix}"
  resource_group_name = simcloud_resource_group.shared.name
  location            = simcloud_resource_group.shared.location
  address_space       = ["10.0.0.0/16"]
}

resource "simcloud_subnet" "a" {
  name                 = "a${var.suffix}"
  resource_group_name  = simcloud_resource_group.shared.name
  virtual_network_name = simcloud_virtual_network.shared.name
  address_prefix       = "10.0.1.0/24"
}
