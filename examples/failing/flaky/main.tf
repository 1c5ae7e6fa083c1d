variable "base_id" {
  type = string
}

variable "capacity" {
  type = number
}

resource "terraform_data" "storage" {
  input = "disk of ${var.base_id}"
}

resource "terraform_data" "service" {
  input = "${terraform_data.storage.id} x ${var.capacity}"

  lifecycle {
    # What a provider would find out only by trying.
    postcondition {
      condition     = tonumber(split(" x ", self.output)[1]) >= 2
      error_message = "The service came up with too little capacity: it needs 2 or more."
    }
  }
}

output "service" {
  value = terraform_data.service.output
}
