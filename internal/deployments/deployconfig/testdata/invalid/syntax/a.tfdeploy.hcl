deployment "a" {
  inputs = { a = 1 # and no end
