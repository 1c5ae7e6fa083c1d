output "x" {
  type  = string
  value = provider::mine::echo("x") # want error "Provider not declared" `provider::mine::echo`
}
