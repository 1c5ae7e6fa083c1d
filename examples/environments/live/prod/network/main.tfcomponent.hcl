variable "environment" {
  type = string
}

component "network" {
  source = "../../../modules/network"
  inputs = {
    environment = var.environment
    cidr        = "10.2.0.0/16"
  }
}

output "subnets" {
  type  = list(string)
  value = component.network.subnets
}
