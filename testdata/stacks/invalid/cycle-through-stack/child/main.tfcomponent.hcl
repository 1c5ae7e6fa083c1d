variable "in" {
  type = string
}

output "out" {
  type  = string
  value = var.in
}
