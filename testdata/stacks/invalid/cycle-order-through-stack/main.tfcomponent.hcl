# No value flows in a cycle, but the components would have to wait for each other.

component "r" { # want error "Items depend on each other in a circle" `component "r"`
  source = "./mod"
  inputs = { in = stack.x.plain }
}

stack "x" {
  source = "./child"
  inputs = { in = component.r.out }
}
