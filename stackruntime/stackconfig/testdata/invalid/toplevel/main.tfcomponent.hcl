componnet "x" { # want error "Unsupported block type" `componnet`
  source = "../../modules/m"
}

provider "aws" { # want error "Missing configuration name for provider" `{`
}

terraform {} # want error "Unsupported block type" `terraform`

answer = 42 # want error "Unsupported argument" `answer`

variable { # want error "Missing name for variable" `{`
  type = string
}
