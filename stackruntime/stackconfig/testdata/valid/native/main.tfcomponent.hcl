language = TFStack2023

required_providers {
  cloud = {
    source  = "example/cloud"
    version = ">= 2.0.0"
  }
  random = {
    source  = "example.com/corp/random"
    version = "~> 1.2, != 1.2.5"
  }
}

variable "regions" {
  type        = set(string)
  default     = ["north"]
  description = "Where to run."
}

variable "token" {
  type      = string
  ephemeral = true
  sensitive = true

  validation {
    condition     = length(var.token) > 3
    error_message = "Token ${var.token} is too short."
  }
}

variable "settings" {
  type = list(object({
    name = string
    size = optional(number, 3)
    tags = optional(map(object({ on = optional(bool, true) })), { a = {} })
    pair = optional(tuple([string, object({ deep = optional(string, "d") })]))
  }))
  default = [{ name = "first" }]
}

variable "none" {
  type    = string
  default = null
}

variable "targets" {
  type = map(providerconfig(cloud))
}

locals {
  prefix = "p-${var.none}"
  sizes  = [for s in var.settings : s.size]
}

provider "cloud" "by_region" {
  for_each = var.regions
  config {
    region = each.value
    token  = var.token
  }
}

provider "random" "main" {}

component "network" {
  for_each = var.regions
  source   = "../../modules/m"
  inputs = {
    zone = "${local.prefix}-${each.value}"
    n    = 1 + 2
  }
  providers = {
    cloud      = provider.cloud.by_region[each.value]
    cloud.east = provider.cloud.by_region["east"]
  }
}

component "app" {
  source     = "../../modules/other"
  inputs     = { zones = [for r, n in component.network : n.zone] }
  depends_on = [component.network, stack.apps]
}

stack "apps" {
  for_each = toset(["a", "b"])
  source   = "../../stacks/leaf"
  inputs = {
    name = each.key
  }
  depends_on = [component.network]
}

removed {
  for_each = var.regions
  from     = component.legacy[each.key]
  source   = "../../modules/other"
  providers = {
    cloud = provider.cloud.by_region[each.key]
  }
  lifecycle {
    destroy = false
  }
}

removed {
  from   = stack.old["x"].component.y[var.settings[0].name]
  source = "../../modules/other"
}

removed {
  from   = stack.old
  source = "../../stacks/leaf"
  inputs = { name = local.prefix }
}

output "urls" {
  type        = map(string)
  value       = { for k, s in stack.apps : k => s.url }
  description = "Where it runs."
  sensitive   = true
}

output "token" {
  type      = string
  value     = var.token
  ephemeral = true
}
