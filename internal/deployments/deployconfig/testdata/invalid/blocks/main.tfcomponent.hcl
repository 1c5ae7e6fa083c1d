variable "a" { type = string }
