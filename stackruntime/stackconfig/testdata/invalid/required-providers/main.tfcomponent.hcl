required_providers {
  repeated = {
    source  = "hashicorp/repeated"
    version = "1.0.0"
    source  = "hashicorp/again" # want error "Argument repeated" `source`
  }
  unknown = {
    source                = "hashicorp/unknown"
    version               = "1.0.0"
    configuration_aliases = [] # want error "Unknown provider requirement argument" `configuration_aliases`
  }
  sourceless = { # want error "Provider source missing" `sourceless`
    version = "1.0.0"
  }
  versionless = { # want error "Provider version missing" `versionless`
    source = "hashicorp/versionless"
  }
  builtin = {
    source  = "terraform.io/builtin/terraform"
    version = "1.0.0" # want error "Built-in providers have no version" `version = "1.0.0"`
  }
  unparseable = {
    source  = "one/two/three/four" # want error "Unusable provider source" `"one/two/three/four"`
    version = "1.0.0"
  }
  short = {
    source  = "aws" # want error "Unusable provider source" `"aws"`
    version = "1.0.0"
  }
  prefixed = {
    source  = "hashicorp/terraform-provider-aws" # want error "Unusable provider source" `"hashicorp/terraform-provider-aws"`
    version = "1.0.0"
  }
  badversion = {
    source  = "hashicorp/badversion"
    version = "~> x" # want error "Unreadable version constraint" `"~> x"`
  }
  two = {
    source  = "hashicorp/one"
    version = "1.0.0"
  }
  one = { # want error "Provider has two names" `one`
    source  = "registry.terraform.io/hashicorp/one"
    version = "1.0.0"
  }
  quoted = {
    "source" = "hashicorp/quoted" # want error "Unusable provider requirement" `"source"`
    source   = "hashicorp/quoted"
    version  = "1.0.0"
  }
  text = "~> 1.0" # want error "Unusable provider requirement" `"~> 1.0"`
}

# The local names above are not missing a second time.
provider "sourceless" "main" {}

provider "one" "main" {}
