# Declarations of the broken file may be referred to: only what is wrong in any
# case is reported.
component "x" {
  source = "../../modules/m"
}

provider "perhaps" "main" {}

removed {
  from   = stack.perhaps.component.y
  source = "../../modules/m"
}

variable "v" {
  type = object({
    p = providerconfig(perhaps)
    q = any # want error "Not a type constraint" `any`
  })
}
