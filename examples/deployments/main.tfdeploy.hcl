identity_token "cloud" {
  audience = ["cloud.example.com"]
}

store "varset" "database" {
  name     = "database"
  category = "terraform"
}

locals {
  always = {
    token    = identity_token.cloud.jwt
    password = store.varset.database.password
    size     = store.varset.database.stable.size
  }
}

deployment "dev" {
  deployment_group = deployment_group.early
  inputs           = merge(local.always, { environment = "dev" })
}

deployment "staging" {
  deployment_group = deployment_group.early
  inputs           = merge(local.always, { environment = "staging", machines = 2 })
}

deployment "prod" {
  deployment_group = deployment_group.late
  inputs           = merge(local.always, { environment = "prod", machines = 3 })
}

deployment_group "early" {
  auto_approve_checks = [deployment_auto_approve.removes_nothing]
}

deployment_group "late" {
  auto_approve_checks = [deployment_auto_approve.removes_nothing, deployment_auto_approve.is_small]
}

deployment_auto_approve "removes_nothing" {
  check {
    condition = context.plan.changes.remove == 0
    reason    = "${context.plan.changes.remove} objects would be removed."
  }
}

deployment_auto_approve "is_small" {
  check {
    condition = context.plan.changes.total <= 2
    reason    = "${context.plan.changes.total} changes are for a person to look at."
  }
}

publish_output "url" {
  value = deployment.prod.url
}
