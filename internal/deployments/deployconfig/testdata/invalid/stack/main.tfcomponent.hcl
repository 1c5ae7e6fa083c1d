variable "region" { type = string }
variable "size" {
  type    = number
  default = 1
}
variable "kept" {
  type    = string
  default = ""
}
variable "token" {
  type      = string
  ephemeral = true
  default   = ""
}
output "id" {
  type  = string
  value = var.region
}
output "secret" {
  type      = string
  ephemeral = true
  value     = var.token
}
