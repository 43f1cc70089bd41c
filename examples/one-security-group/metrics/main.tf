terraform {
  required_providers {
    simcloud = {
      source = "tfweaver/simcloud"
    }
  }
}

# Endpoint and actor come from SIMCLOUD_ENDPOINT and SIMCLOUD_ACTOR.
provider "simcloud" {}

locals {
  # Port by priority.
  ports = { "300" = "9090", "301" = "9100" }
}

resource "simcloud_network_security_rule" "metrics" {
  for_each = local.ports

  name                        = "metrics-${each.value}"
  resource_group_name         = "edge"
  network_security_group_name = "edge"
  priority                    = tonumber(each.key)
  direction                   = "Inbound"
  access                      = "Allow"
  protocol                    = "Tcp"
  source_address_prefix       = "10.9.0.0/16"
  destination_port_range      = each.value
}
