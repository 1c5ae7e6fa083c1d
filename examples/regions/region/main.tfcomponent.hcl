# What each region has. A stack configures its own providers: they cannot be passed in.

required_providers {
  time = {
    source  = "hashicorp/time"
    version = "~> 0.14"
  }
}

variable "name" {
  type = string
}

variable "opened" {
  type = string
}

provider "time" "this" {}

component "site" {
  source = "./site"
  inputs = {
    name   = var.name
    opened = var.opened
  }
  providers = {
    time = provider.time.this
  }
}

output "description" {
  type  = string
  value = component.site.description
}
