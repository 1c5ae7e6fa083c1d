resource "echo_empty" "it" {
  chosen      = null
  chosen_list = []
  dynamic     = null
  id          = "i"
  list        = []
  map         = {}
  number      = 0
  object      = {}
  required    = ""
  secret      = null # sensitive
  set         = []
  string      = null
  strings     = [""]
}
