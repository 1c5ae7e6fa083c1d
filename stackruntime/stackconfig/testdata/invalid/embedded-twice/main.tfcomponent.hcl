stack "a" {
  source = "./child"
}

stack "b" {
  source = "./child"
}
