resource "terraform_data" "x" {
  input            = "net"
  triggers_replace = ["second"]
}

output "id" {
  value = terraform_data.x.id
}
