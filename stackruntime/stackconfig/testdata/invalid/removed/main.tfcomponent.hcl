component "here" {
  source = "../../modules/m"
}

stack "here" {
  source = "../../stacks/leaf"
}

removed {
  from   = component.here # want error "Component both declared and removed" `component.here`
  source = "../../modules/m"
}

removed {
  from   = stack.here # want error "Stack both declared and removed" `stack.here`
  source = "../../stacks/leaf"
}

removed {
  for_each = toset(["a"])
  from     = component.gone["a"] # want error "for_each not used in from" `component.gone["a"]`
  source   = "../../modules/m"
}

removed {
  from      = stack.gone
  source    = "../../stacks/leaf"
  providers = {} # want error "providers only applies to components" `providers`
}

removed {
  from   = component.gone_too
  source = "../../modules/m"
  inputs = {} # want error "inputs only applies to embedded stacks" `inputs`
}

removed {
  from   = stack.missing.component.x
  source = "../../modules/m"
}

removed {
  from   = stack.missing.stack.y # want error "Removal target lies in a missing stack" `stack.missing.stack.y`
  source = "../../stacks/leaf"
}

removed {
  from   = component.here["a"]
  source = "../../modules/other" # want error "Conflicting sources" `"../../modules/other"`
}

removed {
  from   = stack.here["a"]
  source = "../sources" # want error "Conflicting sources" `"../sources"`
}

removed {
  from   = stack.gone.component.x["a"]
  source = "../../modules/m"
}

removed {
  from   = stack.gone.component.x["b"]
  source = "../../modules/other" # want error "Conflicting sources" `"../../modules/other"`
}

removed {
  from   = stack.gone["k"]
  source = "../sources" # want error "Conflicting sources" `"../sources"`
}

removed {
  from   = component.twice_lifecycle
  source = "../../modules/m"
  lifecycle {
    destroy = false
  }
  lifecycle { # want error "Only one lifecycle block allowed" `lifecycle`
  }
}

removed {
  from   = component.bad_destroy
  source = "../../modules/m"
  lifecycle {
    destroy = var.x # want error "Variables not allowed" `var`
  }
}

removed { # want error "Missing required argument" `removed`
  source = "../../modules/m"
}

removed { # want error "Missing required argument" `removed`
  from = component.no_source
}
