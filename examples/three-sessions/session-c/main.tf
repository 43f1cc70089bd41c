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

resource "simcloud_resource_group" "other" {
  name     = "other${var.suffix}"
  location = "westeurope"
}

resource "simcloud_virtual_network" "other" {
  name                = "other${var.suffix}"
  resource_group_name = simcloud_resource_group.other.name
  location            = simcloud_resource_group.other.location
  address_space       = ["10.1.0.0/16"]
}
