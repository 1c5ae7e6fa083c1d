locals {
  a = local.b # want error "Items depend on each other in a circle" `a`
  b = local.c
  c = local.a
}
