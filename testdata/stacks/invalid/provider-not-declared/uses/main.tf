terraform {
  required_providers {
    fake = {
      source = "cairnstacks/fake"
    }
  }
}
