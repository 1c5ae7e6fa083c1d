component "single" {
  source = "../../modules/m"
}

component "keyed" {
  for_each = toset(["a"])
  source   = "../../modules/m"
}

component "plural" {
  for_each = toset(["a"])
  source   = "../../modules/m"
}

stack "leaf" {
  source = "../../stacks/leaf"
}

# Ends that are not addresses of components or stacks.

moved {
  from = component.old.output # want error "from does not name a component or stack" `.output`
  to   = component.single
}

moved {
  from = component.old
  to   = var.x # want error "to does not name a component or stack" `var`
}

moved {
  from = component.old[each.key] # want error "Non-literal instance key in move" `each.key`
  to   = component.single
}

moved {
  from = component.old
  to   = component.keyed[-1] # want error "Non-literal instance key in move" `-1`
}

moved { # want error "Missing required argument" `moved`
  from = component.old
}

moved {
  from     = component.old
  to       = component.single
  for_each = toset([]) # want error "Unsupported argument" `for_each`
}

# Moves that make no sense whatever there is.

moved {
  from = component.old
  to   = stack.leaf # want error "Invalid move" `stack.leaf`
}

moved {
  from = component.old
  to   = component.old # want error "Invalid move" `component.old`
}

moved {
  from = stack.old
  to   = stack.old.stack.leaf # want error "Invalid move" `stack.old.stack.leaf`
}

# From is still there.

moved {
  from = component.single # want error "Moved object still declared" `component.single`
  to   = component.keyed["single"]
}

moved {
  from = component.keyed # want error "Moved object still declared" `component.keyed`
  to   = component.renamed # want error "Target of a move not declared" `component.renamed`
}

moved {
  from = stack.leaf.component.x # want error "Moved object still declared" `stack.leaf.component.x`
  to   = component.keyed["leaf"]
}

# To is not there.

moved {
  from = component.old1["a"]
  to   = component.single["a"] # want error "Target of a move not declared" `component.single["a"]`
}

moved {
  from = component.old2["a"]
  to   = component.plural # want error "Target of a move not declared" `component.plural`
}

moved {
  from = component.old3
  to   = stack.leaf.component.y # want error "Target of a move not declared" `stack.leaf.component.y`
}

moved {
  from = stack.old3
  to   = stack.missing # want error "Target of a move not declared" `stack.missing`
}

# Blocks that contradict each other.

moved {
  from = component.twice
  to   = component.keyed["t1"]
}

moved {
  from = component.twice # want error "Object moved twice" `component.twice`
  to   = component.keyed["t2"]
}

moved {
  from = component.other
  to   = component.keyed["t1"] # want error "Two objects moved to one address" `component.keyed["t1"]`
}

moved {
  from = component.round1
  to   = component.round2 # want error "Cycle of moves" `component.round2`
}

moved {
  from = component.round2
  to   = component.round3
}

moved {
  from = component.round3
  to   = component.round1
}

# Removed as well.

removed {
  from   = component.gone
  source = "../../modules/m"
}

moved {
  from = component.gone # want error "Object both moved and removed" `component.gone`
  to   = component.keyed["gone"]
}
