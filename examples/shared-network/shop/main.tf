terraform {
  required_providers {
    simcloud = {
      source = "tfweaver/simcloud"
    }
  }
}

# Endpoint and actor come from SIMCLOUD_ENDPOINT and SIMCLOUD_ACTOR.
provider "simcloud" {}

# The network belongs to the platform's state.
data "simcloud_virtual_network" "hub" {
  name                = "hub"
  resource_group_name = "network"
}

resource "simcloud_resource_group" "shop" {
  name     = "shop"
  location = data.simcloud_virtual_network.hub.location
}

resource "simcloud_subnet" "shop" {
  for_each = { front = "10.0.1.0/24", back = "10.0.2.0/24" }

  name                 = "shop-${each.key}"
  resource_group_name  = data.simcloud_virtual_network.hub.resource_group_name
  virtual_network_name = data.simcloud_virtual_network.hub.name
  address_prefix       = each.value
  service_endpoints    = ["Microsoft.Storage"]
}

resource "simcloud_network_interface" "shop" {
  for_each = simcloud_subnet.shop

  name                = "shop-${each.key}"
  resource_group_name = simcloud_resource_group.shop.name
  location            = simcloud_resource_group.shop.location
  subnet_id           = each.value.id
}
