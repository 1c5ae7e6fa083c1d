variable "names" { type = set(string) }

component "one" {
  source = "./mod"
}

component "each" {
  for_each = toset(["north", "south"])
  source   = "./mod"
}

component "open" {
  for_each = var.names
  source   = "./mod"
}

# There may be no instance for which these are evaluated.
component "some" {
  for_each = var.names
  source   = "./takes"
  inputs   = { in = component.one.reslut } # want warning "Unknown module output" `.reslut`
}

stack "some" {
  for_each = var.names
  source   = "./child"
}

stack "always" {
  source = "./always"
}

locals {
  misspelt     = component.one.reslut # want error "Unknown module output" `.reslut`
  by_index     = component.one["reslut"] # want error "Component without instance keys" `["reslut"]`
  keyed        = component.one["north"].result # want error "Component without instance keys" `["north"]`
  numbered     = component.one[0] # want error "Component without instance keys" `[0]`
  unkeyed      = component.each.result # want error "Missing instance key" `.result`
  other_key    = component.each["nroth"].result # want error "Unknown component instance" `["nroth"]`
  in_instance  = component.each["north"].reslut # want error "Unknown module output" `.reslut`
  open_unkeyed = component.open.result # want warning "Missing instance key" `.result`
  in_open      = component.open["x"].reslut # want error "Unknown module output" `.reslut`
  in_text      = "a ${component.one.nothing} b" # want error "Unknown module output" `.nothing`
  in_call      = upper(component.one.nothing) # want error "Unknown module output" `.nothing`
  in_condition = component.one.nothing == "" ? 1 : 2 # want error "Unknown module output" `.nothing`

  # Nothing is certain about these.
  caught    = try(component.one.old, component.one.result)
  asked     = can(component.one.old)
  by_branch = length(var.names) > 0 ? component.one.old : component.one.result
  by_and    = var.names != null && component.one.old == ""
  in_loop   = [for name in var.names : component.one.old]
  by_value  = [for name in var.names : component.open[name].result]
  all       = values(component.each)[*].result
  right     = [component.one.result, component.one["result"], component.each["north"].result, component.each.south.result, component.open["x"].result]

  # What may be meant.
  component = component.noe.result # want error "Unknown component" `component.noe`
  variable  = var.name # want error "Unknown variable" `var.name`
  local     = local.misspelled # want error "Unknown local value" `local.misspelled`
}
