component "x" {
  for_each = ["a", "b"] # want error "for_each needs a map, an object or a set of strings" `["a", "b"]`
  source   = "./mod"
  inputs   = { in = each.value }
}
