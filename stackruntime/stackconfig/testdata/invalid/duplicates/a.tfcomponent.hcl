required_providers {}

component "x" {
  source = "../../modules/m"
}

stack "x" {
  source = "../../stacks/leaf"
}

variable "x" {
  type = string
}

locals {
  x = 1
}

output "x" {
  type  = number
  value = 1
}

provider "terraform" "x" {}
