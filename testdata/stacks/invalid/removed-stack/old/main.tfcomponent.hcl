variable "in" {
  type = string
}

locals {
  a = var.in
  b = local.missing # want error "Unknown local value" `local.missing`
}
