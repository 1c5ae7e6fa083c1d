# A plain root module that shares a module with the stacks.

module "network" {
  source      = "../../modules/network"
  environment = "vpn"
  cidr        = "10.99.0.0/16"
}

output "subnets" {
  value = module.network.subnets
}
