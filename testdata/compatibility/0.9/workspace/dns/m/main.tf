variable "vpc" {
  type = string
}

resource "terraform_data" "x" {
  input = var.vpc
}

output "vpc" {
  value = terraform_data.x.output
}
