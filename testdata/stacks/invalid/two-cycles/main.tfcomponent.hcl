locals {
  a = local.b # want error "Items depend on each other in a circle" `a`
  b = local.a
  x = local.y # want error "Items depend on each other in a circle" `x`
  y = local.x
}
