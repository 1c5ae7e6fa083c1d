size     = "small"
password = "only-an-example"
