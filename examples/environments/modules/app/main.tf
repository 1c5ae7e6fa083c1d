variable "environment" {
  type = string
}

resource "terraform_data" "release" {
  input = "${var.environment}-app"
}

output "endpoint" {
  value = "https://${terraform_data.release.output}.example.com"
}
