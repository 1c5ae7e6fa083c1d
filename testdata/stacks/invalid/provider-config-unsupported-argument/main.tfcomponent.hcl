required_providers {}

provider "terraform" "main" {
  config {
    region = "x" # want error "Unsupported argument" `region`
  }
}
