component "1x" { # want error "Not a usable name" `"1x"`
  source = "../../modules/m"
}

stack "a b" { # want error "Not a usable name" `"a b"`
  source = "../../stacks/leaf"
}

variable "-v" { # want error "Not a usable name" `"-v"`
  type = string
}

output "" { # want error "Not a usable name" `""`
  type  = string
  value = "x"
}

provider "a.b" "main" {} # want error "Not a usable name" `"a.b"`

provider "terraform" "main/2" {} # want error "Not a usable name" `"main/2"`
