locals {
  a = "${var.one}-${var.two}" # want error "Unknown variable" `var.one` want error "Unknown variable" `var.two`
}
