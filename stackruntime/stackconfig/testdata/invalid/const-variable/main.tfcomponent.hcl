variable "fixed" {
  type  = string
  const = true # want error "Unsupported argument" `const`
}
