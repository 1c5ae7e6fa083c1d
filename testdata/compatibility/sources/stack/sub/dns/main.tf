variable "entries" {
  type = number
}

resource "terraform_data" "entry" {
  count            = 2
  input            = { entries = var.entries, index = count.index }
  triggers_replace = [var.entries]
}
