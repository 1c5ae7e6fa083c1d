required_providers {
  fake = {
    source  = "cairnstacks/fake"
    version = ">= 1.0.0"
  }
}

provider "terraform" "main" {}

component "unfilled" { # want error "Provider slot not filled" `component "unfilled"`
  source = "./uses"
}

component "wrong" {
  source = "./uses"
  providers = {
    fake = provider.terraform.main # want error "Wrong provider for slot" `provider.terraform.main`
  }
}

component "no_reference" {
  source = "./uses"
  providers = {
    fake = "fake" # want error "Wrong provider for slot" `"fake"`
  }
}
