terraform {
  required_providers {
    time = {
      source = "hashicorp/time"
    }
  }
}

variable "name" {
  type = string
}

variable "opened" {
  type = string
}

resource "time_offset" "review" {
  base_rfc3339 = var.opened
  offset_days  = 30
}

output "description" {
  value = "${var.name}: opened ${var.opened}, review ${time_offset.review.rfc3339}"
}
