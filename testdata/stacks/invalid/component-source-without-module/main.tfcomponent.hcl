component "x" {
  source = "./empty" # want error "No module at this source" `"./empty"`
}
