locals {
  d = = 1 # want error "Invalid expression" `=`
}
