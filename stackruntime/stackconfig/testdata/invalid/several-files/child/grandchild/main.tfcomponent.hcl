provider "cloud" "main" {} # want error "Provider not declared" `"cloud"`
