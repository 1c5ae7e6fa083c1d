component "x" {
  source = "./mod"
  inputs = "in" # want error "Component inputs do not fit" `"in"`
}
