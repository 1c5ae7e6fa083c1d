variable "number" {
  type = number
}
variable "any" {
  type = any
}
