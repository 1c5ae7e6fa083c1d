variable "network_id" {
  type = string
}

variable "subnets" {
  type = list(string)
}

resource "terraform_data" "database" {
  input = {
    network  = var.network_id
    replicas = length(var.subnets)
  }
}

output "url" {
  value     = "db://${terraform_data.database.id}@${var.network_id}"
  sensitive = true
}
