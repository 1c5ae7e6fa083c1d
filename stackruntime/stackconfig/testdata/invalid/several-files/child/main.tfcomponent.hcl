component "c" {
  source = "../nowhere" # want error "Source cannot be used here" `"../nowhere"`
}

stack "grandchild" {
  source = "./grandchild"
}
