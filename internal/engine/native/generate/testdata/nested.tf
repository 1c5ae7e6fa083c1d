resource "echo_nested" "it" {
  chosen = {
    chosen = "c"
    id     = "i"
    name   = "a"
    secret = null # sensitive
    value  = null
  }
  deep = {
    k = {
      inner = [
        {
          x = "1"
        },
        {
          x = null
        },
      ]
    }
  }
  empty_list = [
  ]
  empty_map = {
  }
  list = [
    {
      chosen = "c"
      id     = "i"
      name   = "a"
      secret = null # sensitive
      value  = null
    },
    {
      chosen = "c"
      id     = "i"
      name   = "b"
      secret = null # sensitive
      value = jsonencode({
        a = 1
      })
    },
  ]
  map = {
    k = {
      chosen = "c"
      id     = "i"
      name   = "a"
      secret = null # sensitive
      value  = null
    }
    "two words" = {
      chosen = "c"
      id     = "i"
      name   = "b"
      secret = null # sensitive
      value  = null
    }
  }
  set = [
    {
      chosen = "c"
      id     = "i"
      name   = "a"
      secret = null # sensitive
      value  = null
    },
  ]
  single = {
    chosen = "c"
    id     = "i"
    name   = "a"
    secret = null # sensitive
    value  = "v"
  }
}
