variable "cidr" {
  type = string
}

resource "terraform_data" "subnet" {
  count = 2
  input = cidrsubnet(var.cidr, 8, count.index)
}

output "cidrs" {
  value = terraform_data.subnet[*].output
}
