variable "a" {
  type    = number
  default = "x" # want error "Default does not fit the type" `"x"`
}

locals {
  b = var.nope # want error "Unknown variable" `var.nope`
  c = local.b # no second error for what depends on b
}

component "d" {
  source = "./mod"
  inputs = {
    in   = local.c
    size = [] # want error "Component inputs do not fit" `[]`
  }
}

component "e" {
  source = "./missing" # want error "Source cannot be used here" `"./missing"`
  inputs = {
    in = component.d.out
  }
}

output "f" {
  type  = string
  value = component.nope.out # want error "Unknown component" `component.nope`
}
