component "slow" {
  source = "./m"
}
