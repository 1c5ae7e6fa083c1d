# One embedded stack for each region, and one provider configuration for each region.

required_providers {
  time = {
    source  = "hashicorp/time"
    version = "~> 0.14"
  }
}

variable "regions" {
  type    = set(string)
  default = ["north", "south"]
}

variable "founded" {
  type    = string
  default = "2024-01-01T00:00:00Z"
}

provider "time" "by_region" {
  for_each = var.regions
}

component "clock" {
  for_each = var.regions
  source   = "./clock"
  inputs = {
    region  = each.value
    founded = var.founded
  }
  providers = {
    time = provider.time.by_region[each.value]
  }
}

stack "region" {
  for_each = var.regions
  source   = "./region"
  inputs = {
    name   = each.value
    opened = component.clock[each.value].opened
  }
}

output "regions" {
  type  = map(string)
  value = { for name, region in stack.region : name => region.description }
}
