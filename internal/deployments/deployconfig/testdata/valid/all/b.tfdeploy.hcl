deployment_group "canary" {
  auto_approve_checks = [deployment_auto_approve.small, deployment_auto_approve.small]
  eager_plan          = false
  failure_tolerance   = 2
}

deployment "canary_a" {
  inputs = {
    region   = upper("eu")
    token    = store.varset.by-id.TOKEN
    password = ephemeralasnull(identity_token.aws.jwt) == null ? "x" : "y"
    network  = upstream_input.network.vpc
  }
  deployment_group = deployment_group.canary
}

deployment "canary_b" {
  inputs = {
    region   = local.common["region"]
    token    = local.common.token
    password = "p"
    network  = { id = upstream_input.network.vpc.id }
  }
  deployment_group = "deployment_group.canary"
  import           = true
}

deployment "production" {
  inputs = {
    region   = "us"
    token    = null == local.team ? "" : identity_token.aws.jwt
    password = "p"
    size     = null
  }
  destroy = local.team == "web"
}

deployment_auto_approve "small" {
  check {
    condition = context.plan.changes.total < 5 && context.plan.component_changes["component.a"].remove == 0
    reason    = "${context.plan.changes.total} changes of ${local.team} in ${context.plan.deployment.deployment_name}."
  }
  check {
    condition = context.plan.deployment != deployment.production && context.success
    reason    = "Production is approved by people."
  }
}

publish_output "id" {
  value       = deployment.production.id
  description = "Where it is."
  type        = string
}

publish_output "ids" {
  value = [deployment.production.id, deployment["canary_a"].id, local.team]
}
