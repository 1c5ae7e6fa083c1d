output "name" {
  value = "other"
}
