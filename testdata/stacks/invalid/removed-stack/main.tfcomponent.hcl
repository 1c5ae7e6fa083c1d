removed {
  from   = stack.old[var.missing] # want error "Unknown variable" `var.missing`
  source = "./old"
  inputs = { in = [] } # want error "Embedded stack inputs do not fit" `[]`
}

removed { # want error "Embedded stack needs inputs" `removed`
  from   = stack.other
  source = "./old"
}
