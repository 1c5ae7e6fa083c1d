resource "terraform_data" "base" {
  input = "ready"
}

output "id" {
  value = terraform_data.base.id
}
