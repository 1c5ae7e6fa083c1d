component "x" {
  source = "./mod"
  inputs = {
    in = component.missing.out # want error "Unknown component" `component.missing`
  }
}
