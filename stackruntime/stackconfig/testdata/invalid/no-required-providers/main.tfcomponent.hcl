provider "terraform" "main" {} # want error "Provider not declared" `"terraform"`

variable "p" {
  type = providerconfig(terraform) # want error "Not a type constraint" `terraform`
}
