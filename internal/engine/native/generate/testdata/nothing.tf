resource "echo_nothing" "it" {
  bool        = null
  chosen      = null
  list        = null
  map         = null
  nested      = null
  nested_list = null
  required    = ""
  secret      = null # sensitive
  string      = null
}
