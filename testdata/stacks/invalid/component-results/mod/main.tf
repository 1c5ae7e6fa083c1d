output "result" { value = "x" }
