variable "environment" {
  type = string
}

component "database" {
  source = "../../../modules/database"
  inputs = {
    environment = var.environment
  }
}

output "version" {
  type  = string
  value = component.database.version
}
