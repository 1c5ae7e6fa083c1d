variable "region" { type = string }
variable "token" {
  type      = string
  ephemeral = true
}
