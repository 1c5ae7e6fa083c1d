variable "name" {
  type    = string
  default = "leaf"
}

component "x" {
  source = "../../modules/m"
}
