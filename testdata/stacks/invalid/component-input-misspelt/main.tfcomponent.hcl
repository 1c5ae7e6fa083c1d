component "x" {
  source = "./mod"
  inputs = {
    in  = "a"
    szie = 2 # want warning "Input not declared" `szie`
  }
}
