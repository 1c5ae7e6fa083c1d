removed { # want error "Removed blocks cannot be run" `removed`
  from   = component.old
  source = "./mod"
}
