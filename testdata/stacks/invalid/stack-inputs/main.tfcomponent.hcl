stack "none" { # want error "Embedded stack needs inputs" `stack "none"`
  source = "./child"
}

stack "missing" {
  source = "./child"
  inputs = {} # want error "Required variable of the embedded stack not set" `{}`
}

stack "null" {
  source = "./child"
  inputs = { in = null } # want error "Required variable of the embedded stack not set" `{ in = null }`
}

stack "type" {
  source = "./child"
  inputs = {
    in = ["a"] # want error "Embedded stack inputs do not fit" `["a"]`
  }
}

stack "extra" {
  source = "./child"
  inputs = {
    in    = "a"
    other = 1 # want warning "Input not declared" `other`
  }
}
