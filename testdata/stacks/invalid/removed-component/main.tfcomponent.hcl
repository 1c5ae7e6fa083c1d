removed {
  from   = component.old[var.missing] # want error "Unknown variable" `var.missing`
  source = "./mod"
}

removed {
  for_each = ["a"] # want error "for_each needs a map, an object or a set of strings" `["a"]`
  from     = component.other[each.value]
  source   = "./mod"
}

removed {
  from   = component.third
  source = "./none" # want error "Source cannot be used here" `"./none"`
}
