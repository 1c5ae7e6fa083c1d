output "b" {
  type  = any # want error "Not a type constraint" `any`
  value = 1
}
