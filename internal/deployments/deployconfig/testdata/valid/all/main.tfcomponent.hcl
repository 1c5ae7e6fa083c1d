variable "region" { type = string }
variable "size" {
  type    = number
  default = 1
}
variable "token" {
  type      = string
  ephemeral = true
}
variable "password" {
  type      = string
  sensitive = true
}
variable "network" {
  type    = object({ id = string, zones = optional(list(string), []) })
  default = { id = "" }
}

output "id" {
  type  = string
  value = var.region
}
