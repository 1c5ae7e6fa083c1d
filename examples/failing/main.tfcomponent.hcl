# The second of three components fails at apply, until capacity is raised.

required_providers {}

variable "capacity" {
  type    = number
  default = 1
}

component "base" {
  source = "./base"
}

component "flaky" {
  source = "./flaky"
  inputs = {
    base_id  = component.base.id
    capacity = var.capacity
  }
}

component "after" {
  source = "./after"
  inputs = {
    service = component.flaky.service
  }
}

component "bystander" {
  source = "./base"
}

output "service" {
  type  = string
  value = component.after.service
}
