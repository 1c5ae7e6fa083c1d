variable "name" { type = string }
variable "size" { type = string }
variable "password" {
  type      = string
  ephemeral = true
}

resource "terraform_data" "database" {
  input = "db://${var.name}/${var.size}"
}

output "url" { value = terraform_data.database.output }
