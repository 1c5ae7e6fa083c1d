removed {
  from   = component[0].c # want error "from does not name a component or stack" `component`
  source = "../../modules/m"
}

removed {
  from   = component.c.attr # want error "from does not name a component or stack" `.attr`
  source = "../../modules/m"
}

removed {
  from   = component.c[0].more # want error "from does not name a component or stack" `.more`
  source = "../../modules/m"
}

removed {
  from   = component.c["a"]["b"] # want error "from does not name a component or stack" `["b"]`
  source = "../../modules/m"
}

removed {
  from   = stack.s[each.key][each.value].component.c # want error "from does not name a component or stack" `[each.value]`
  source = "../../modules/m"
}

removed {
  from   = module.c # want error "from does not name a component or stack" `module`
  source = "../../modules/m"
}

removed {
  from   = component # want error "from does not name a component or stack" `component`
  source = "../../modules/m"
}

removed {
  from   = component.c[*] # want error "from does not name a component or stack" `component.c[*]`
  source = "../../modules/m"
}

removed {
  from   = "component.c" # want error "from does not name a component or stack" `"component.c"`
  source = "../../modules/m"
}

removed {
  from   = component.a.component.b # want error "from does not name a component or stack" `.component`
  source = "../../modules/m"
}
