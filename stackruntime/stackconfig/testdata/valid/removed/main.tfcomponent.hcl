# The target of each removal lies in a stack that is declared or itself removed,
# in whatever order the blocks are written.
removed {
  from   = stack.old.stack.older.component.x["a"]
  source = "../../modules/m"
}

removed {
  from   = stack.old.stack.older
  source = "../../stacks/leaf"
}

removed {
  from   = stack.old
  source = "../empty"
}

removed {
  from   = stack.old["k"]
  source = "../empty"
}

component "x" {
  source = "../../modules/m"
}

removed {
  from   = component.x["gone"]
  source = "../../modules/m"
}

stack "here" {
  source = "../../stacks/leaf"
}

removed {
  from   = stack.here["gone"]
  source = "../../stacks/leaf"
}
