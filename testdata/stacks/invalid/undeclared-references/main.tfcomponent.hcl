required_providers {}

locals {
  a = var.missing # want error "Unknown variable" `var.missing`
  b = local.missing # want error "Unknown local value" `local.missing`
  c = component.missing.out # want error "Unknown component" `component.missing`
  d = stack.missing.out # want error "Unknown embedded stack" `stack.missing`
  e = provider.terraform.missing # want error "Unknown provider configuration" `provider.terraform.missing`
  f = each.key # want error "Symbol not available here" `each.key`
  g = count.index # want error "Symbol not available here" `count.index`
  h = self.id # want error "Symbol not available here" `self`
}
