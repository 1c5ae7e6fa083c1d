component "x" {
  source = "./configures"
}
