variable "environment" {
  type = string
}

component "app" {
  source = "../../../modules/app"
  inputs = {
    environment = var.environment
  }
}

output "endpoint" {
  type  = string
  value = component.app.endpoint
}
