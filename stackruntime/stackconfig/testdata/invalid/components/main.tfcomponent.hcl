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
    component.arguments["k"],
    component.missing, # what it names is the evaluator's concern
    "component.arguments",        # want error "depends_on target unusable" `"component.arguments"`
    component.arguments[var.v],   # want error "depends_on target unusable" `component.arguments[var.v]`
    component.arguments[*].out,   # want error "depends_on target unusable" `component.arguments[*].out`
    [component.arguments],        # want error "depends_on target unusable" `[component.arguments]`
  ]
}

stack "depends" {
  source     = "../../stacks/leaf"
  depends_on = component.arguments # want error "depends_on target unusable" `component.arguments`
}
