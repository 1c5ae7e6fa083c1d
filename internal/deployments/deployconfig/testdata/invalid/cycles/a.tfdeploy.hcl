deployment "a" {
  inputs = { x = local.b, y = local.self }
}
locals {
  self = [local.self] # want error "Item depends on itself" `self`
  a    = local.b # want error "Items depend on each other in a circle" `a`
  b    = local.c
  c    = "${local.a}"
  user = local.c
}
