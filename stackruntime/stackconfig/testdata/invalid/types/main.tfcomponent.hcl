required_providers {
  aws = {
    source  = "hashicorp/aws"
    version = "~> 5.0"
  }
}

variable "any" {
  type = any # want error "Not a type constraint" `any`
}

variable "several" {
  type = object({
    a     = list                       # want error "Not a type constraint" `list`
    b     = set(any)                   # want error "Not a type constraint" `any`
    c     = map()                      # want error "Not a type constraint" `()`
    d     = tuple([string, text])      # want error "Not a type constraint" `text`
    e     = list(string, number)       # want error "Not a type constraint" `(string, number)`
    f     = array(string)              # want error "Not a type constraint" `array`
    g     = providerconfig(azure)      # want error "Not a type constraint" `azure`
    h     = providerconfig("aws")      # want error "Not a type constraint" `"aws"`
    i     = string("x")                # want error "Not a type constraint" `string("x")`
    j     = var.type                   # want error "Not a type constraint" `var.type`
    k     = "string"                   # want error "Not a type constraint" `"string"`
    a     = string                     # want error "Not a type constraint" `a`
    "l"   = string                     # want error "Not a type constraint" `"l"`
    m     = optional()                 # want error "Not a type constraint" `()`
    n     = optional(number, "x")      # want error "Attribute default does not fit its type" `"x"`
    o     = optional(number, var.x)    # want error "Variables not allowed" `var`
    p     = tuple(string)              # want error "Not a type constraint" `string`
    q     = object(string)             # want error "Not a type constraint" `string`
    r     = object                     # want error "Not a type constraint" `object`
    s     = providerconfig             # want error "Not a type constraint" `providerconfig`
    t     = tuple                      # want error "Not a type constraint" `tuple`
  })
  default = "not looked at"
}

variable "outside" {
  type = list(optional(string)) # want error "Not a type constraint" `optional(string)`
}

output "untyped" { # want error "Missing required argument" `output "untyped"`
  value = 1
}

output "typed_wrongly" {
  type  = map # want error "Not a type constraint" `map`
  value = 1
}
