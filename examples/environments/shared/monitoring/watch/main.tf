variable "subnets" {
  type = list(string)
}

resource "terraform_data" "probe" {
  count = length(var.subnets)
  input = var.subnets[count.index]
}

output "watched" {
  value = sort(terraform_data.probe[*].output)
}
