component "x" {
  for_each = toset([each.key]) # want error "Symbol not available here" `each.key`
  source   = "./mod"
  inputs   = { in = "x" }
}
