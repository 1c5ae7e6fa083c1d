variable "apps" {
  type = number
}

component "dns" {
  source = "./dns"
  inputs = { entries = var.apps }
}
