variable "name" {
  type = string
}

variable "database_url" {
  type      = string
  sensitive = true
}

resource "terraform_data" "release" {
  input            = var.name
  triggers_replace = sha256(var.database_url)
}

output "endpoint" {
  value = "https://${terraform_data.release.output}.example.com/${terraform_data.release.id}"
}
