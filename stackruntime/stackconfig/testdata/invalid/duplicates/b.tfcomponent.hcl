required_providers {} # want error "Provider requirements declared twice" `required_providers`

component "x" { # want error "Component declared twice" `component "x"`
  source = "../../modules/m"
}

stack "x" { # want error "Embedded stack declared twice" `stack "x"`
  source = "../../stacks/leaf"
}

variable "x" { # want error "Input variable declared twice" `variable "x"`
  type = string
}

locals {
  x = 2 # want error "Local value declared twice" `x`
}

output "x" { # want error "Output value declared twice" `output "x"`
  type  = number
  value = 1
}

provider "terraform" "x" {} # want error "Provider configuration declared twice" `provider "terraform" "x"`
