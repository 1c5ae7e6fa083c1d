variable "vpc" {
  type = string
}

component "dns" {
  source = "./m"
  inputs = { vpc = var.vpc }
}
