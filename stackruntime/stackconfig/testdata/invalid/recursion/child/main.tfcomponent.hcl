stack "back" {
  source = "../" # want error "Stacks nested too deeply" `"../"`
}
