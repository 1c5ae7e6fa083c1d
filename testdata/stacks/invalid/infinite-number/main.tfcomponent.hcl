locals {
  fine = 1 / 0 > 5
}

component "a" {
  source = "./mod"
  inputs = {
    number = 1 / 0 # want error "Component inputs do not fit" `1 / 0`
    any    = [{ a = -1 / 0 }] # want error "Component inputs do not fit" `[{ a = -1 / 0 }]`
  }
}

output "number" {
  type  = number
  value = 1 / 0 # want error "Output value has the wrong type" `1 / 0`
}

output "fine" {
  type  = bool
  value = local.fine
}
