variable "network" {
  type = string
}

variable "password" {
  type      = string
  sensitive = true
}

resource "terraform_data" "server" {
  for_each = toset(["blue sky", "x\"y"])
  input = {
    network  = var.network
    password = var.password
    note     = "ü, ${each.key}"
  }
}

check "network" {
  assert {
    condition     = var.network != ""
    error_message = "No network."
  }
}

output "servers" {
  value = { for name, server in terraform_data.server : name => server.id }
}
