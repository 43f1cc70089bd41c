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
  ports = { "200" = "80", "201" = "443", "202" = "8443" }
}

resource "simcloud_network_security_rule" "web" {
  for_each = local.ports

  name                        = "web-${each.value}"
  resource_group_name         = "edge"
  network_security_group_name = "edge"
  priority                    = tonumber(each.key)
  direction                   = "Inbound"
  access                      = "Allow"
  protocol                    = "Tcp"
  source_address_prefix       = "*"
  destination_port_range      = each.value
}
