variable "keys" {
  type      = set(string)
  sensitive = true
}

component "x" {
  for_each = var.keys # want error "for_each cannot be sensitive" `var.keys`
  source   = "./mod"
  inputs   = { in = each.value }
}
