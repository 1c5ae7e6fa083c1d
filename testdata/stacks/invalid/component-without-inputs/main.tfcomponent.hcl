component "x" { # want error "Component needs inputs" `component "x"`
  source = "./mod"
}
