component "x" {
  for_each = toset([1, 2]) # want error "for_each set must hold strings" `toset([1, 2])`
  source   = "./mod"
  inputs   = { in = "x" }
}
