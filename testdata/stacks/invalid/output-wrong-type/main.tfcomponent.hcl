output "x" {
  type  = number
  value = "many" # want error "Output value has the wrong type" `"many"`
}
