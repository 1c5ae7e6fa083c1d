component "inner" {
  source = "../mod"
}

locals {
  x = component.inner.reslut # want error "Unknown module output" `.reslut`
}
