variable "in" {
  type = string
}

variable "size" {
  type    = number
  default = 1
}

resource "terraform_data" "this" {
  input = var.in
}

output "out" {
  value = terraform_data.this.output
}
