resource "echo_blocks" "it" {
  value = null
  group {
    chosen = "c"
    id     = "i"
    name   = "g"
    secret = null # sensitive
    value  = null
  }
  group_empty {
    chosen = null
    id     = null
    name   = null
    secret = null # sensitive
    value  = null
  }
  list {
    chosen = "c"
    id     = "i"
    name   = "l"
    secret = null # sensitive
    value  = null
    inner {
      chosen = "c"
      id     = "i"
      name   = "i"
      secret = null # sensitive
      value  = null
    }
  }
  map "k" {
    chosen = "c"
    id     = "i"
    name   = "a"
    secret = null # sensitive
    value  = null
  }
  map "two words" {
    chosen = "c"
    id     = "i"
    name   = "b"
    secret = null # sensitive
    value  = null
  }
  set {
    x = "a"
  }
  set {
    x = "b"
  }
  single {
    chosen = "c"
    id     = "i"
    name   = "s"
    secret = null # sensitive
    value  = "v"
  }
}
