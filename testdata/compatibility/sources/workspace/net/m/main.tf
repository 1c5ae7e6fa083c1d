resource "terraform_data" "x" {
  input = "net"
}

output "id" {
  value = terraform_data.x.id
}
