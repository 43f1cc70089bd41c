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

# The network belongs to session A's state and may not be there yet.
resource "simcloud_subnet" "b" {
  name                 = "b${var.suffix}"
  resource_group_name  = "shared${var.suffix}"
  virtual_network_name = "shared${var.suffix}"
  address_prefix       = "10.0.2.0/24"
}
