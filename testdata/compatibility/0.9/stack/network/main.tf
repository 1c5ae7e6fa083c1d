variable "name" {
  type = string
}

resource "terraform_data" "vpc" {
  input = var.name
}

output "id" {
  value = terraform_data.vpc.id
}
