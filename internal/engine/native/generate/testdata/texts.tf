resource "echo_texts" "it" {
  array   = jsonencode(["a", 1, null])
  broken  = "{\"a\":"
  control = "\u0000\t\r\u2028"
  document = jsonencode({
    a = {
      "b c" = [true]
    }
    d = "x"
  })
  dynamic = jsonencode({
    a = 1
  })
  lines = "one\n  two \"quoted\"\n\nthree\n"
  list  = ["{\"a\":1}"]
  map = {
    "$${a}"       = "%%{b}"
    "line\nbreak" = "x"
    é             = ""
  }
  number = "12"
  spaced = jsonencode({
    a = 2
    b = 1
  })
  template = "$${a} $$${b} %%{c} $d \\"
  unicode  = "é 世界 😀"
  word     = "\"x\""
}
