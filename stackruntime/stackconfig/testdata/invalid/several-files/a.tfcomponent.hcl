variable "a" {
  type    = number
  default = "many" # want error "Default does not fit the type" `"many"`
}

stack "child" {
  source = "./child"
}
