identity_token "aws" {
  audience = ["aws.workload.identity", "aws.workload.identity"]
}

store "varset" "secrets" {
  name     = "${local.team}-secrets"
  category = "terraform"
}

store "varset" "by-id" {
  id       = "varset-1"
  category = "env"
}

upstream_input "network" {
  type   = "stack"
  source = "app.terraform.io/example/platform/network"
}

locals {
  team   = "web"
  common = { region = "eu", token = identity_token.aws.jwt }
  pass   = store.varset.secrets.stable.password
}

deployment "development" {
  inputs = merge(local.common, { password = local.pass, size = "2" })
}
