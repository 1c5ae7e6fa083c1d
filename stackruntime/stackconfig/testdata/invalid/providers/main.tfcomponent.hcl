required_providers {
  aws = {
    source  = "hashicorp/aws"
    version = "~> 5.0"
  }
}

provider "aws" "twice" {
  config {
    region = "a"
  }
  config { # want error "Only one config block allowed" `config`
    region = "b"
  }
}

provider "azure" "main" {} # want error "Provider not declared" `"azure"`

provider "aws" "args" {
  region = "a" # want error "Unsupported argument" `region`
  alias  = "b" # want error "Unsupported argument" `alias`
}

component "x" {
  source = "../../modules/m"
  providers = {
    aws      = provider.aws.twice
    aws.a    = provider.aws.twice
    aws.a    = provider.aws.args # want error "Provider slot assigned twice" `aws.a`
    "aws"    = provider.aws.args # want error "Unusable provider slot name" `"aws"`
    aws.a.b  = provider.aws.args # want error "Unusable provider slot name" `aws.a.b`
    aws["k"] = provider.aws.args # want error "Unusable provider slot name" `aws["k"]`
  }
}

component "y" {
  source    = "../../modules/m"
  providers = local.providers # want error "Unusable providers argument" `local.providers`
}
