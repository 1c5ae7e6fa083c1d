stack "net" {
  path = "net"
}

stack "dns" {
  path   = "dns"
  inputs = { vpc = stack.net.output.id }
}
