variable "environment" {
  type = string
}

resource "terraform_data" "database" {
  input = {
    name    = "${var.environment}-db"
    version = "16"
  }
}

output "version" {
  value = terraform_data.database.output.version
}
