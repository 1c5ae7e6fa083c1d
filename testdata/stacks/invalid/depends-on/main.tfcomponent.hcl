variable "v" {
  type    = string
  default = "x"
}

component "a" {
  source = "./mod"
  inputs = { in = "x" }
}

component "b" {
  source = "./mod"
  inputs = { in = "x" }
  depends_on = [
    var.v, # want error "depends_on target unusable" `var.v`
    component.missing, # want error "depends_on target unusable" `component.missing`
    stack.missing, # want error "depends_on target unusable" `stack.missing`
    component.a.out, # want warning "depends_on target too specific" `.out`
  ]
}

stack "c" {
  source = "./child"
  depends_on = [
    var.v, # want error "depends_on target unusable" `var.v`
    component.missing, # want error "depends_on target unusable" `component.missing`
    stack.missing, # want error "depends_on target unusable" `stack.missing`
    component.a.out, # want warning "depends_on target too specific" `.out`
  ]
}
