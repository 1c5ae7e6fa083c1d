required_providers {
  terraform = {
    source = "terraform.io/builtin/terraform"
  }
}

provider "terraform" "main" {
  for_each = toset([component.a.out])
}

component "a" { # want error "Items depend on each other in a circle" `component "a"`
  source = "./mod"
  inputs = { in = "x" }
  providers = {
    terraform = provider.terraform.main["x"]
  }
}
