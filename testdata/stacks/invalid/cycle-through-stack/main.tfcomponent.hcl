stack "a" { # want error "Items depend on each other in a circle" `stack "a"`
  source = "./child"
  inputs = { in = stack.a.out }
}
