variable "pool" {
  type = string
}

variable "machines" {
  type = number
}

variable "database_url" {
  type      = string
  sensitive = true
}

resource "terraform_data" "machine" {
  count            = var.machines
  input            = "${var.pool}-${count.index}"
  triggers_replace = sha256(var.database_url)
}

output "summary" {
  value = "${var.pool}: ${join(", ", terraform_data.machine[*].output)}"
}
