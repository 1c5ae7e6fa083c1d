deployment "one" {
  inputs = { a = "x" }
}
deployment "one" { # want error "Name used twice" `deployment "one"`
  inputs = { a = "y" }
}
deployment "1one" { # want error "Not a usable name" `"1one"`
  inputs = { a = "y" }
}
deployment "no-inputs" { # want error "Stack variable not set by deployment" `deployment "no-inputs"`
}
deployment "loop" {
  for_each = ["a"] # want error "Unsupported argument" `for_each`
  inputs   = { a = "x" }
  destory  = true # want error "Unsupported argument" `destory`
}
deployment "kinds" {
  inputs           = ["x"]                          # want error "Unsuitable deployment input" `["x"]`
  destroy          = "perhaps"                      # want error "Unsuitable argument value" `"perhaps"`
  import           = upstream_input.u.x             # want error "Reference not allowed here" `upstream_input`
  deployment_group = deployment_auto_approve.small  # want error "Not a deployment group" `deployment_auto_approve.small`
}
deployment "grouped" {
  inputs           = { a = "x" }
  deployment_group = deployment_group.prodution # want error "Unknown reference" `deployment_group.prodution`
}
deployment_group "production" {
  auto_approve_checks = [
    deployment_auto_approve.small,
    deployment_auto_approve.smal,       # want error "Unknown reference" `deployment_auto_approve.smal`
    deployment.one,                     # want error "Not an approval rule" `deployment.one`
    "small",                            # want error "Not an approval rule" `"small"`
  ]
  eager_plan        = 3    # want error "Unsuitable argument value" `3`
  failure_tolerance = -1   # want error "Unsuitable argument value" `-1`
}
deployment_group "b" {
  auto_approve_checks = deployment_auto_approve.small # want error "Not an approval rule" `deployment_auto_approve.small`
  failure_tolerance   = 1.5 # want error "Unsuitable argument value" `1.5`
}
deployment_group "c" { # want error "Missing required argument" `deployment_group "c"`
}
deployment_auto_approve "small" {
  check { # want error "Incomplete approval rule" `check`
    condition = true
  }
  check { # want error "Incomplete approval rule" `check`
  }
  check {
    condition = [] # want error "Unsuitable check condition" `[]`
    reason    = {} # want error "Unsuitable check reason" `{}`
  }
}
deployment_auto_approve "empty" { # want error "Incomplete approval rule" `deployment_auto_approve "empty"`
}
deployment_auto_approve "empty_plan" { # want error "Name used twice" `"empty_plan"`
  check {
    condition = true
    reason    = local.secret # want error "Unsuitable check reason" `local.secret`
  }
}
identity_token "none" { # want error "Missing required argument" `identity_token "none"`
}
identity_token "wrong" {
  audience = { a = [] } # want error "Unsuitable argument value" `{ a = [] }`
}
identity_token "empty" {
  audience = [] # want error "Unsuitable argument value" `[]`
}
identity_token "unknown" {
  audience = [local.unknown] # want error "Unsuitable argument value" `[local.unknown]`
}
store "varset" "both" {
  id       = "a"
  name     = "b" # want error "Variable set not identified" `name`
  category = "terraform"
}
store "varset" "neither" { # want error "Variable set not identified" `store "varset" "neither"`
  category = "terrafrom" # want error "Unknown store category" `"terrafrom"`
}
store "vault" "v" { # want error "Unknown store type" `"vault"`
  path = "x"
}
upstream_input "u" {
  type   = "workspace" # want error "Unusable upstream" `"workspace"`
  source = "a/b/c"     # want error "Unusable upstream" `"a/b/c"`
}
upstream_input "v" { # want error "Missing required argument" `upstream_input "v"`
  type = "stack"
}
upstream_input "w" {
  type   = "stack"
  source = "https://a/b/c" # want error "Unusable upstream" `"https://a/b/c"`
}
publish_output "p" { # want error "Missing required argument" `publish_output "p"`
  type = strung # want error "Not a type constraint" `strung`
}
publish_output "q" {
  value       = identity_token.none.jwt # want error "Reference not allowed here" `identity_token`
  description = 1
}
publish_output "r" {
  value = local.secret # want error "Ephemeral published value" `local.secret`
}
orchestrate "auto_approve" "old" { # want warning "Deprecated orchestration rule" `orchestrate "auto_approve" "old"`
  check {
    condition = context.plan.applyable
    reason    = "no"
  }
}
orchestrate "auto_approv" "old" {
}
locals {
  secret  = identity_token.none.jwt
  unknown = upstream_input.u.x
  a       = deployment.one.id # want error "Reference not allowed here" `deployment`
  b       = context.success   # want error "Reference not allowed here" `context`
}
locals {
  secret = 1 # want error "Name used twice" `secret`
}
deployment_group "says_members" {
  deployments         = [deployment.one] # want error "Unsupported argument" `deployments`
  auto_approve_checks = []
}
deployment_auto_approve "says_group" {
  deployment_group = deployment_group.b # want error "Unsupported argument" `deployment_group`
  check {
    condition = context.success
    reason    = "x"
  }
}
