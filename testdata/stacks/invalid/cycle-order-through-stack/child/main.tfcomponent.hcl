variable "in" {
  type = string
}

component "q" {
  source = "../mod"
  inputs = { in = var.in }
}

output "plain" {
  type  = string
  value = "constant"
}
