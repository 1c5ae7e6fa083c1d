component "x" {
  for_each = null # want error "for_each cannot be null" `null`
  source   = "./mod"
  inputs   = { in = "x" }
}
