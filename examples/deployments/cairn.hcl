identity "key" {
  path   = "identity.pem"
  issuer = "https://tokens.example.com"
}

varset "database" {
  file      = "database.tfvars"
  sensitive = ["password"]
  shared    = true
}
