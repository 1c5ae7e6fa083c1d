# A stack: components are modules, and values flow from one to the next.

variable "environment" {
  type        = string
  default     = "dev"
  description = "Part of every name."
}

component "network" {
  source = "./network"
  inputs = {
    name = "${var.environment}-network"
  }
}

component "app" {
  source = "./app"
  inputs = {
    name       = "${var.environment}-app"
    network_id = component.network.id # known once the network is applied
  }
}

output "app" {
  type  = string
  value = component.app.summary
}
