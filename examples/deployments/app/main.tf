variable "name" { type = string }
variable "machines" { type = number }
variable "database" { type = string }
variable "token" {
  type      = string
  ephemeral = true
}

resource "terraform_data" "machine" {
  count = var.machines
  input = "${var.name}-${count.index}"
}

resource "terraform_data" "app" {
  input = { database = var.database, machines = terraform_data.machine[*].output }

  lifecycle {
    precondition { # in place of a provider that logs in with it
      condition     = length(split(".", var.token)) == 3
      error_message = "This is not a token."
    }
  }
}

output "url" { value = "https://${var.name}/?${terraform_data.app.output.database}" }
