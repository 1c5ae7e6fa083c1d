component "watch" {
  source = "./watch"
}

output "watched" {
  type  = list(string)
  value = component.watch.watched
}
