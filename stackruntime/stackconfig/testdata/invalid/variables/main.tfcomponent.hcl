variable "untyped" { # want error "Missing required argument" `variable "untyped"`
  default = 1
}

variable "unfit" {
  type    = number
  default = "seven" # want error "Default does not fit the type" `"seven"`
}

variable "unfit_inside" {
  type    = list(object({ size = number }))
  default = [{ size = 1 }, { size = "big" }] # want error "Default does not fit the type" `[{ size = 1 }, { size = "big" }]`
}

variable "unfit_in_map" {
  type    = map(list(object({ size = number })))
  default = { "a b" = [{ size = 1 }, {}] } # want error "Default does not fit the type" `{ "a b" = [{ size = 1 }, {}] }`
}

variable "not_literal" {
  type        = string
  default     = local.x       # want error "Variables not allowed" `local`
  description = upper("text") # want error "Function calls not allowed" `upper("text")`
  sensitive   = "maybe"       # want error "Unsuitable argument value" `"maybe"`
  ephemeral   = null          # want error "Unsuitable argument value" `null`
}

variable "nullable" {
  type     = string
  nullable = false # want error "Unsupported argument" `nullable`
  const    = true  # want error "Unsupported argument" `const`
}

variable "validated" {
  type = string
  validation {
    condition     = length("abc") == 3 # want error "Validation condition tests nothing" `length("abc") == 3`
    error_message = "Never."
  }
  validation { # want error "Missing required argument" `validation`
    condition = var.validated != ""
  }
}
