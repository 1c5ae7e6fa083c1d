variable "in" {
  type = string
}
