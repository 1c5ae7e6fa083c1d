variable "service" {
  type = string
}

resource "terraform_data" "monitor" {
  input = var.service
}

output "service" {
  value = terraform_data.monitor.output
}
