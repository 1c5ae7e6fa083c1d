component "a" { # want error "Items depend on each other in a circle" `component "a"`
  source = "./mod"
  inputs = { in = component.b.out }
}

component "b" {
  source = "./mod"
  inputs = { in = component.a.out }
}
