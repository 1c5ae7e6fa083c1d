output "no_value" { # want error "Output without value" `output "no_value"`
  type = string
}

output "precondition" {
  type  = string
  value = "x"
  precondition { # want error "Preconditions are not available for stack outputs" `precondition`
    condition     = true
    error_message = "No."
  }
}

output "depends" {
  type       = string
  value      = "x"
  depends_on = [component.x] # want error "Unsupported argument" `depends_on`
}
