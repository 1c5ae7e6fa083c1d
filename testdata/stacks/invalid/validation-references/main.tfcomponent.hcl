variable "limit" {
  type    = number
  default = 3
}

variable "size" {
  type    = number
  default = 1

  validation {
    condition     = var.size < var.limit # want error "Reference not allowed here" `var.limit`
    error_message = "Too large for ${local.place}." # want error "Reference not allowed here" `local.place`
  }
}

locals {
  place = "here"
}
