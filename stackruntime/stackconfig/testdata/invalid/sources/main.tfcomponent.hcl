component "empty" {
  source = "" # want error "Unusable source address" `""`
}

component "spaces" {
  source = " ./m" # want error "Unusable source address" `" ./m"`
}

component "unclean" {
  source = "./a/../m" # want error "Unusable source address" `"./a/../m"`
}

component "dot" {
  source = "." # want error "Unusable source address" `"."`
}

component "backslash" {
  source = ".\\m" # want error "Unusable source address" `".\\m"`
}

component "absolute" {
  source = "/modules/m" # want error "Unusable source address" `"/modules/m"`
}

component "plain_http" {
  source = "http://example.com/x.tgz" # want error "Unusable source address" `"http://example.com/x.tgz"`
}

component "no_archive" {
  source = "https://example.com/x" # want error "Unusable source address" `"https://example.com/x"`
}

component "redundant" {
  source = "https::https://example.com/x.tgz" # want error "Unusable source address" `"https::https://example.com/x.tgz"`
}

component "reference" {
  source = var.source # want error "Variables not allowed" `var`
}

component "null" {
  source = null # want error "Unsuitable argument value" `null`
}

component "no_version" {
  source = "hashicorp/consul/aws" # want error "Version constraint needed" `"hashicorp/consul/aws"`
}

component "bad_version" {
  source  = "hashicorp/consul/aws"
  version = "newest" # want error "Unreadable version constraint" `"newest"`
}

component "local_version" {
  source  = "../../modules/m"
  version = "1.0.0" # want error "Version constraint not applicable" `version`
}

stack "git_version" {
  source  = "git::https://example.com/x.git"
  version = "1.0.0" # want error "Version constraint not applicable" `version`
}

component "registry" {
  source  = "hashicorp/consul/aws" # want error "Source cannot be used here" `"hashicorp/consul/aws"`
  version = "~> 1.0"
}

stack "component_registry" {
  source  = "example.com/awesomecorp/pets" # want error "Source cannot be used here" `"example.com/awesomecorp/pets"`
  version = "~> 1.0"
}

stack "git" {
  source = "git::https://example.com/x.git//dir?ref=v1" # want error "Source cannot be used here" `"git::https://example.com/x.git//dir?ref=v1"`
}

component "archive" {
  source = "https://example.com/x.tgz" # want error "Source cannot be used here" `"https://example.com/x.tgz"`
}

component "github" {
  source = "github.com/example/modules//net" # want error "Source cannot be used here" `"github.com/example/modules//net"`
}

component "missing" {
  source = "../nowhere" # want error "Source cannot be used here" `"../nowhere"`
}

component "file" {
  source = "./main.tfcomponent.hcl" # want error "Source cannot be used here" `"./main.tfcomponent.hcl"`
}

stack "missing" {
  source = "./nowhere" # want error "No such stack directory" `"./nowhere"`
}

removed {
  from   = component.gone
  source = "./gone" # want error "Source cannot be used here" `"./gone"`
}

removed {
  from   = stack.gone
  source = "./gone" # want error "No such stack directory" `"./gone"`
}

component "none" { # want error "Missing required argument" `component "none"`
}
