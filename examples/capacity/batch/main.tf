terraform {
  required_providers {
    simcloud = {
      source = "tfweaver/simcloud"
    }
  }
}

# Endpoint and actor come from SIMCLOUD_ENDPOINT and SIMCLOUD_ACTOR.
provider "simcloud" {}

# Three machines of four processors each.
resource "simcloud_virtual_machine" "batch" {
  count               = 3
  name                = "batch-${count.index}"
  resource_group_name = "fleet"
  location            = "westeurope"
  size                = "Standard_D4s_v5"
}
