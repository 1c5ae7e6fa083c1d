# A plain root module, which terraform or tofu runs as ever.

resource "terraform_data" "zone" {
  input = "example.com"
}

output "zone" {
  value = terraform_data.zone.output
}
