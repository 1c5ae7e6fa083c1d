locals {
  a = "x-${var.missing}" # want error "Unknown variable" `var.missing`
}

output "b" {
  type  = string
  value = var.missing # want error "Unknown variable" `var.missing`
}
