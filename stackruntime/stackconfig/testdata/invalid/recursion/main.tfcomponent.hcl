stack "self" {
  source = "./" # want error "Stacks nested too deeply" `"./"`
}

stack "child" {
  source = "./child"
}
