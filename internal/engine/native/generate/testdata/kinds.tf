resource "echo_kinds" "it" {
  bool        = true
  chosen      = "c"
  chosen_null = null
  dynamic = {
    x = 1
  }
  list = ["a", "b"]
  map = {
    k           = "v"
    "two words" = "w"
  }
  number = 1.5
  object = {
    a = "x"
    b = [0]
  }
  required   = "r"
  secret     = null # sensitive
  set        = ["a", "b"]
  string     = "s"
  tuple      = ["t", false]
  write_only = null
}
