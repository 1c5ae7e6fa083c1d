variable "environment" {
  type = string
}

variable "cidr" {
  type = string
}

resource "terraform_data" "network" {
  input = "${var.environment}-net"
}

module "subnets" {
  source = "../subnets"
  cidr   = var.cidr
}

output "name" {
  value = terraform_data.network.output
}

output "subnets" {
  value = module.subnets.cidrs
}
