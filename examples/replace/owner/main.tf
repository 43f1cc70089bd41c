terraform {
  required_providers {
    simcloud = {
      source = "tfweaver/simcloud"
    }
  }
}

# Endpoint and actor come from SIMCLOUD_ENDPOINT and SIMCLOUD_ACTOR.
provider "simcloud" {}

variable "image" {
  type    = string
  default = "v1"
}

resource "simcloud_resource_group" "machines" {
  name     = "machines"
  location = "westeurope"
}

# Another image makes another machine of the same name.
resource "simcloud_virtual_machine" "worker" {
  name                = "worker"
  resource_group_name = simcloud_resource_group.machines.name
  location            = simcloud_resource_group.machines.location
  size                = "Standard_D2s_v5"
  image               = var.image
}
