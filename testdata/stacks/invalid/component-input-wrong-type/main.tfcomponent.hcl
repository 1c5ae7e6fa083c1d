component "x" {
  source = "./mod"
  inputs = {
    in   = "a"
    size = "many" # want error "Component inputs do not fit" `"many"`
  }
}
