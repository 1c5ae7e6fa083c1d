# Takes the file of the state away while it is written, so that the state has to be kept elsewhere.
resource "terraform_data" "thief" {
  input = "kept"

  provisioner "local-exec" {
    working_dir = path.cwd
    command     = "mkdir away && mv cairn.state.db* away"
  }
}
