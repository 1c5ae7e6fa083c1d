component "x" { # want error "Component declared twice" `component "x"`
  source = "../"
}

locals {
  b = 2 # want error "Local value declared twice" `b`
}
