removed {
  from   = stack.old # want error "Removal of whole stacks cannot be run" `stack.old`
  source = "./old"
}
