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
  key = store.varset.s.KEY
}
deployment "one" {
  inputs = {
    a = locl.x                        # want error "Unknown reference" `locl`
    b = local.xy                      # want error "Unknown reference" `local.xy`
    c = identity_token.awz.jwt        # want error "Unknown reference" `identity_token.awz`
    d = identity_token.aws.token      # want error "Unknown reference" `identity_token.aws.token`
    e = identity_token.aws            # want error "Unknown reference" `identity_token.aws`
    f = store.varset.s                # want error "Unusable store reference" `store.varset.s`
    g = store.varset.s.stable         # want error "Unusable store reference" `store.varset.s.stable`
    h = store.varset.t.KEY            # want error "Unknown reference" `store.varset.t`
    i = upstream_input.ent.id         # want error "Unknown reference" `upstream_input.ent`
    j = upstream_input.net            # want error "Unknown reference" `upstream_input.net`
    k = var.region                    # want error "Unknown reference" `var`
    l = component.x.id                # want error "Unknown reference" `component`
    m = deployment.one.id             # want error "Reference not allowed here" `deployment`
    n = lenght("x")                   # want error "Call to unknown function" `lenght`
    o = local                         # want error "Unknown reference" `local`
    p = upper(1, 2)                   # want error "Too many function arguments" `2`
    q = store                         # want error "Unusable store reference" `store`
  }
}
deployment "two" {
  inputs = {
    a = local.key
    b = store.varset.s.stable.KEY # want error "Unusable store reference" `store.varset.s.stable.KEY`
  }
}
deployment_auto_approve "r" {
  check {
    condition = context.plan.changez.total == 0 # want error "Unsupported attribute" `.changez`
    reason    = deployment.three # want error "Unknown reference" `deployment.three`
  }
  check {
    condition = contxt.success # want error "Unknown reference" `contxt`
    reason    = identity_token.aws.jwt # want error "Reference not allowed here" `identity_token`
  }
}
publish_output "p" {
  value = deployment.two # want error "Unknown reference" `deployment.two`
}
publish_output "q" {
  value = deployment.to.id # want error "Unknown reference" `deployment.to`
}
