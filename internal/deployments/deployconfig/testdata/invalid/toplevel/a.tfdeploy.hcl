component "c" { # want error "Unsupported block type" `component`
}
deploymnt "d" { # want error "Unsupported block type" `deploymnt`
}
variable "v" { # want error "Unsupported block type" `variable`
}
count = 1 # want error "Unsupported argument" `count`
deployment { # want error "Missing name for deployment" `{`
}
deployment "a" {
  inputs = local.nowhere
}
deployment "b" {
  inputs  = {}
  default = 1 # want error "Unsupported argument" `default`
}
