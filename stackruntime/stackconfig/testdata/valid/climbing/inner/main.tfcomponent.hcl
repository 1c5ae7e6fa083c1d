component "outside" {
  source = "../../../modules/m"
}

stack "leaf" {
  source = "../../../stacks/leaf"
}
