component "single" {
  source = "../../modules/m"
}

component "keyed" {
  for_each = toset(["a", "b"])
  source   = "../../modules/m"
}

stack "leaf" {
  for_each = toset(["a"])
  source   = "../../stacks/leaf"
}

# A chain, of which only the end is declared.

moved {
  from = component.first
  to   = component.second
}

moved {
  from = component.second
  to   = component.single
}

# Keys are gained, lost, and change in the same block.

moved {
  from = component.keyed
  to   = component.keyed["a"]
}

moved {
  from = component.many["one"]
  to   = component.many
}

moved {
  from = component.many
  to   = component.keyed["b"]
}

moved {
  from = component.keyed["old"]
  to   = component.keyed["c"]
}

# Stacks, and components that move into them and out of them.

moved {
  from = stack.former
  to   = stack.leaf
}

moved {
  from = stack.former["x"].component.y
  to   = component.keyed["y"]
}

moved {
  from = component.inside
  to   = stack.leaf["a"].component.x
}

# What has moved may be removed under its new name.

removed {
  from   = component.gone
  source = "../../modules/m"
}

moved {
  from = component.going
  to   = component.gone
}
