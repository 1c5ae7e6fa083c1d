language = TFStack2023

output "x" {
  type  = string
  value = var.declared_in_a_file_that_was_not_decoded
}
