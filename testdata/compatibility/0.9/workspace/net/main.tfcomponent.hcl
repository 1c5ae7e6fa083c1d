component "net" {
  source = "./m"
}

output "id" {
  type  = string
  value = component.net.id
}
