component "x" {
  source = "./mod"
  inputs = {} # want error "Component inputs do not fit" `{}`
}
