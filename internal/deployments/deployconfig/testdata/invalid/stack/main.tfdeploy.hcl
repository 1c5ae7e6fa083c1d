identity_token "aws" { audience = ["a"] }
store "varset" "s" {
  name     = "s"
  category = "env"
}
upstream_input "net" {
  type   = "stack"
  source = "host.example/o/p/s"
}
locals {
  token = "Bearer ${identity_token.aws.jwt}"
  all   = { regoin = "eu", region = "eu" }
}
deployment "one" {
  inputs = {
    regoin = "eu"    # want error "Unknown stack variable" `regoin`
    region = "eu"
    size   = "large" # want error "Unsuitable deployment input" `"large"`
    kept   = identity_token.aws.jwt # want error "Ephemeral value for kept variable" `identity_token.aws.jwt`
    token  = local.token
  }
}
deployment "two" { # want error "Stack variable not set by deployment" `deployment "two"`
  inputs = {
    kept = local.token # want error "Ephemeral value for kept variable" `local.token`
    size = upstream_input.net.size
  }
}
deployment "three" {
  inputs = {
    region = null # want error "Stack variable not set by deployment" `null`
    kept   = store.varset.s.KEPT # want error "Ephemeral value for kept variable" `store.varset.s.KEPT`
    (local.token == "" ? "size" : "kept") = "x"
  }
}
deployment "four" {
  inputs = local.all # want error "Unknown stack variable" `local.all`
}
deployment "five" {
  inputs = merge(local.all, { size = [] }) # want error "Unknown stack variable" `merge(local.all, { size = [] })`
}
deployment "six" { # want error "Stack variable not set by deployment" `deployment "six"`
  inputs = {}
}
deployment "seven" {
  inputs = upstream_input.net.everything
}
publish_output "a" {
  value = deployment.one.idd # want error "Unknown reference" `deployment.one.idd`
}
publish_output "b" {
  value = deployment.one.secret # want error "Ephemeral published value" `deployment.one.secret`
}
publish_output "c" {
  value = deployment.one.id.x # want error "Unsupported attribute" `.x`
}
publish_output "d" {
  type  = list(string)
  value = deployment.one.id # want error "Unsuitable published value" `deployment.one.id`
}
