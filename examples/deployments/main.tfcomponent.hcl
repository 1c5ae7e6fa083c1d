required_providers {}

variable "environment" { type = string }

variable "machines" {
  type    = number
  default = 1
}

variable "size" { type = string }

variable "password" {
  type      = string
  ephemeral = true
}

variable "token" {
  type      = string
  ephemeral = true
}

component "database" {
  source = "./database"
  inputs = {
    name     = "${var.environment}-db"
    size     = var.size
    password = var.password
  }
}

component "app" {
  source = "./app"
  inputs = {
    name     = "${var.environment}-app"
    machines = var.machines
    database = component.database.url
    token    = var.token
  }
}

output "url" {
  type  = string
  value = component.app.url
}
