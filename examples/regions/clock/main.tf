terraform {
  required_providers {
    time = {
      source = "hashicorp/time"
    }
  }
}

variable "region" {
  type = string
}

variable "founded" {
  type = string
}

resource "time_static" "opened" {
  triggers = {
    region = var.region
  }
}

resource "time_offset" "anniversary" {
  base_rfc3339 = var.founded
  offset_years = 1
}

output "opened" {
  value = time_static.opened.rfc3339
}

output "anniversary" {
  value = time_offset.anniversary.rfc3339
}
