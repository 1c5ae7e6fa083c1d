component "x" { # want error "Missing required argument" `component "x"`
}
