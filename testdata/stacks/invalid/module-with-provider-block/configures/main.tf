provider "terraform" {} # want error "Modules used by components cannot configure providers" `provider "terraform"`
