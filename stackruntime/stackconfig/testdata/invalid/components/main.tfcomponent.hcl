variable "v" {
  type = string
}

component "arguments" {
  source = "../../modules/m"
  count  = 2         # want error "Unsupported argument" `count`
  input  = {}        # want error "Unsupported argument" `input`
  lifecycle {}       # want error "Unsupported block type" `lifecycle`
}

stack "arguments" {
  source    = "../../stacks/leaf"
  providers = {} # want error "Unsupported argument" `providers`
}

component "depends" {
  source = "../../modules/m"
  depends_on = [
    component.arguments,
    stack.arguments,
    var.v,                      # want error "depends_on target unusable" `var.v`
    component.missing,          # want error "depends_on target unusable" `component.missing`
    stack.missing,              # want error "depends_on target unusable" `stack.missing`
    component.arguments["k"],   # want warning "depends_on target too specific" `component.arguments["k"]`
    component.arguments.out,    # want warning "depends_on target too specific" `component.arguments.out`
    component,                  # want error "Incomplete reference" `component`
    elsewhere.x,                # want error "Unknown symbol" `elsewhere`
    "component.arguments",      # want error "depends_on target unusable" `"component.arguments"`
    component.arguments[var.v], # want error "depends_on target unusable" `component.arguments[var.v]`
  ]
}

stack "depends" {
  source     = "../../stacks/leaf"
  depends_on = component.arguments # want error "depends_on target unusable" `component.arguments`
}
