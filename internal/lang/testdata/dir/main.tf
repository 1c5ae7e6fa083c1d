# The scope of the expressions in functions.txt. A value of a resource that has never been applied is
# the only unknown thing to be had in a console, and in a plan, where only the id is.

resource "terraform_data" "unknown" {}

variable "ephemeral" {
  type      = string
  default   = "fleeting"
  ephemeral = true
}

locals {
  any     = jsondecode(terraform_data.unknown.id)
  str     = tostring(jsondecode(terraform_data.unknown.id))
  num     = tonumber(jsondecode(terraform_data.unknown.id))
  bool    = tobool(jsondecode(terraform_data.unknown.id))
  strlist = tolist([for s in tolist(jsondecode(terraform_data.unknown.id)) : tostring(s)])
  prefix  = "pre-${terraform_data.unknown.id}"

  list   = tolist(["a", "b", "c"])
  set    = toset(["b", "a"])
  map    = tomap({ a = "1", b = "2" })
  object = { a = 1, b = "x", c = { d = true } }
  tuple  = ["a", 1, true]
  null   = tostring(null)

  hidden      = sensitive("hidden")
  hidden_num  = sensitive(12)
  hidden_list = sensitive(["a", "b"])
  hidden_map  = sensitive({ a = 1 })
  part_hidden = ["a", sensitive("b")]

  template      = "Hello, $${name}!"
  template_loop = "%%{ for x in list ~}$${x};%%{ endfor }"
  template_one  = "$${name}"
  template_bad  = "$${"
  template_deep = "$${templatestring(name, {})}"
  templates     = { hello = "Hello, $${name}!", list = ["<$${name}>"] }
  key           = "hello"
}
