variable "size" {
  type    = number
  default = 1
}
