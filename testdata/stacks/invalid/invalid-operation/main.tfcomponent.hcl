locals {
  a = "x" + 1 # want error "Invalid operand" `"x"`
  b = upper() # want error "Not enough function arguments" `)`
  c = nothing("x") # want error "Call to unknown function" `nothing`
}
