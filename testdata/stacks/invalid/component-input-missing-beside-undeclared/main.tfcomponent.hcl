component "x" {
  source = "./mod"
  inputs = { size = var.missing } # want error "Unknown variable" `var.missing` want error "Component inputs do not fit" `{ size = var.missing }`
}
