variable "name" {
  type = string
}

resource "terraform_data" "network" {
  input = var.name
}

resource "terraform_data" "subnet" {
  count = 2
  input = "${terraform_data.network.id}/${count.index}"
}

output "id" {
  value = terraform_data.network.id
}

output "subnets" {
  value = terraform_data.subnet[*].output
}
