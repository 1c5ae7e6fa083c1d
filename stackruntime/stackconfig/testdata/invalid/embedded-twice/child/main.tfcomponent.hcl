variable "v" {
  type = any # want error "Not a type constraint" `any`
}

removed {
  from   = stack.missing.component.x
  source = "../../../modules/m"
}

stack "grandchild" {
  source = "./nowhere" # want error "No such stack directory" `"./nowhere"`
}

removed {
  from   = stack.grandchild["a"].component.x
  source = "../../../modules/m"
}
