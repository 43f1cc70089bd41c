terraform {
  required_providers {
    simcloud = {
      source = "tfweaver/simcloud"
    }
  }
}

# Endpoint and actor come from SIMCLOUD_ENDPOINT and SIMCLOUD_ACTOR.
provider "simcloud" {}

# The machine was made by somebody else, and is here to be taken away.
import {
  to = simcloud_virtual_machine.worker
  id = "/subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/machines/providers/Microsoft.Compute/virtualMachines/worker"
}

resource "simcloud_virtual_machine" "worker" {
  name                = "worker"
  resource_group_name = "machines"
  location            = "westeurope"
  size                = "Standard_D2s_v5"
  image               = "v1"
}
