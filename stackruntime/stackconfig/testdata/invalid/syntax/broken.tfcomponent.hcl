variable "a" {
  type = = string # want error "Invalid expression" `=`
}
