required_providers {
  fake = {
    source  = "cairnstacks/fake"
    version = ">= 1.0.0"
  }
}

provider "terraform" "main" {}

component "a" {
  source = "./uses"
  providers = {
    fake = provider.terraform.main # want error "Wrong provider for slot" `provider.terraform.main`
  }
}

removed {
  from   = component.b
  source = "./uses"
  providers = {
    fake = provider.terraform.main # want error "Wrong provider for slot" `provider.terraform.main`
  }
}
