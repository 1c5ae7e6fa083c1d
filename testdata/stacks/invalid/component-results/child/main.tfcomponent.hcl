component "inner" {
  source = "../mod"
}

locals {
  x = component.inner.reslut # want warning "Unknown module output" `.reslut`
}
