component "x" {
  source = "./mod"
  inputs = {
    in = var.missing # want error "Unknown variable" `var.missing`
  }
}
