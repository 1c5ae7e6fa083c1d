variable "name" {
  type = string
}

variable "network_id" {
  type = string
}

resource "terraform_data" "app" {
  input = {
    name    = var.name
    network = var.network_id
  }
}

output "summary" {
  value = "${terraform_data.app.output.name} in network ${terraform_data.app.output.network}"
}
