component "a" { # want error "Items depend on each other in a circle" `component "a"`
  source     = "./mod"
  inputs     = { in = "x" }
  depends_on = [component.b]
}

component "b" {
  source = "./mod"
  inputs = { in = component.a.out }
}
