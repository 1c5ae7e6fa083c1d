stack "inner" {
  source = "./inner"
}
