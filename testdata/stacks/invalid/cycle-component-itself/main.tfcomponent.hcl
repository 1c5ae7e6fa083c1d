component "a" { # want error "Item depends on itself" `component "a"`
  source = "./mod"
  inputs = { in = component.a.out }
}
