variable "token" {
  type      = string
  ephemeral = true
}

component "x" {
  source = "./mod"
  inputs = {
    in = var.token # want error "Variable does not take ephemeral values" `var.token`
  }
}
