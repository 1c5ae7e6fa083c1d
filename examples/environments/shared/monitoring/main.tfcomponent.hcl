variable "subnets" {
  type = list(string)
}

component "watch" {
  source = "./watch"
  inputs = {
    subnets = var.subnets
  }
}

output "watched" {
  type  = list(string)
  value = component.watch.watched
}
