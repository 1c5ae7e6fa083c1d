variable "region" {
  type    = string
  default = "north"
}

variable "apps" {
  type    = set(string)
  default = ["a", "b"]
}

variable "password" {
  type      = string
  sensitive = true
  default   = "planted"
}

variable "token" {
  type      = string
  ephemeral = true
  default   = "never stored"
}

component "network" {
  source = "./network"
  inputs = { name = var.region }
}

component "app" {
  for_each = var.apps
  source   = "./app"
  inputs = {
    network  = component.network.id
    password = var.password
  }
}

stack "names" {
  source = "./sub"
  inputs = { apps = length(component.app) }
}

output "network" {
  type  = string
  value = component.network.id
}

output "password" {
  type      = string
  sensitive = true
  value     = var.password
}
