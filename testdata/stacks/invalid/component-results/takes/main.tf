variable "in" { type = string }
