required_providers {}

provider "terraform" "main" {}

component "x" {
  source = "./mod"
  inputs = {
    in = provider.terraform.main # want error "Component inputs do not fit" `provider.terraform.main`
  }
}
