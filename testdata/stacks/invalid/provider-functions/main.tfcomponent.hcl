required_providers {
  mine = {
    source  = "cairnstacks/fake"
    version = "1.0.0"
  }
  broken = "1.0.0" # want error "Unusable provider requirement" `"1.0.0"`
}

variable "name" {
  type = string
  validation {
    condition     = provider::mine::nothing(var.name) # want error "Unknown provider function" `provider::mine::nothing`
    error_message = provider::none::echo(var.name)    # want error "Provider not declared" `provider::none::echo`
  }
}

locals {
  good     = provider::mine::echo("x")
  by_type  = provider::fake::echo("x")              # want error "Provider not declared" `provider::fake::echo`
  reported = provider::broken::echo("x")            # its declaration is wrong, not this
  parts    = provider::mine("x")                    # want error "Invalid function name" `provider::mine`
  builtin  = provider::terraform::encode_expr("x")  # want error "Unknown provider function" `provider::terraform::encode_expr`
  tried    = try(provider::mine::nothing("x"), "y") # want error "Unknown provider function" `provider::mine::nothing`
  count    = provider::mine::join()                 # want error "Not enough function arguments" `)`
  type     = provider::mine::join("x")              # want error "Invalid function argument" `x`
}

stack "sub" {
  source = "./sub"
}
