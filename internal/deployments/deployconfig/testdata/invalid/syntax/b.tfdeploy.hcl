deployment "b" {
  inputs = { a = local.declared_in_the_other_file }
}
