# Three components in a chain, and one for each worker pool. Every value that
# crosses from one component to the next is unknown until it is applied.

required_providers {}

variable "environment" {
  type        = string
  default     = "demo"
  description = "Part of every name."

  validation {
    condition     = can(regex("^[a-z]+$", var.environment))
    error_message = "Use lower-case letters only."
  }
}

variable "pools" {
  type = map(object({
    size  = number
    spare = optional(number, 1)
  }))
  default = {
    batch = { size = 2 }
    web   = { size = 3, spare = 2 }
  }
}

component "network" {
  source = "./network"
  inputs = {
    name = "${var.environment}-net"
  }
}

component "database" {
  source = "./database"
  inputs = {
    network_id = component.network.id
    subnets    = component.network.subnets
  }
}

component "app" {
  source = "./app"
  inputs = {
    database_url = component.database.url
    name         = "${var.environment}-app"
  }
}

component "worker" {
  for_each = var.pools
  source   = "./worker"
  inputs = {
    pool         = each.key
    machines     = each.value.size + each.value.spare
    database_url = component.database.url
  }
}

output "app_endpoint" {
  type  = string
  value = component.app.endpoint
}

output "database_url" {
  type      = string
  value     = component.database.url
  sensitive = true
}

output "workers" {
  type  = map(string)
  value = { for name, pool in component.worker : name => pool.summary }
}
