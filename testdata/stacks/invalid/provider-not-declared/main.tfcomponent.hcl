required_providers {
  fake = {
    source  = "cairnstacks/fake"
    version = ">= 1.0.0"
  }
}

component "a" {
  source = "./uses"
  providers = {
    fake = provider.fake.missing # want error "Unknown provider configuration" `provider.fake.missing`
  }
}

removed {
  from   = component.b
  source = "./uses"
  providers = {
    fake = provider.fake.missing # want error "Unknown provider configuration" `provider.fake.missing`
  }
}
