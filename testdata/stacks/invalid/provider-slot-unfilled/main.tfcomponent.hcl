required_providers {
  fake = {
    source  = "cairnstacks/fake"
    version = ">= 1.0.0"
  }
}

component "a" { # want error "Provider slot not filled" `component "a"`
  source = "./uses"
}

removed { # want error "Provider slot not filled" `removed`
  from   = component.b
  source = "./uses"
}
