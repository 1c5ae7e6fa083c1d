required_providers {}

provider "terraform" "main" {}

stack "a" {
  source = "./child"
  inputs = {
    in = provider.terraform.main # want error "Reference not allowed here" `provider.terraform.main`
  }
}
