deployment "prod" {
  inputs = {}
}
deployment "other" {
  inputs           = {}
  deployment_group = deployment_group.prod_default
}
deployment "third" {
  inputs           = {}
  deployment_group = deployment_group.other_default # want error "Reserved group name" `deployment_group.other_default`
}
deployment_group "prod_default" { # want error "Reserved group name" `deployment_group "prod_default"`
  auto_approve_checks = []
}
deployment_group "built-in" {
  auto_approve_checks = [deployment_auto_approve.empty_plan] # want error "Not an approval rule" `deployment_auto_approve.empty_plan`
}
