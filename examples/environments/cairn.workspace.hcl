# What there is to run in this repository, and in what order.

workspace {
  parallel = 3
  limits   = { database = 1 } # however many run, one database at a time
}

# The three environments: dev applies by itself, each other one waits for the tests of the one before it.

group "dev" {
  members    = ["./live/dev"]
  tags       = ["dev"]
  variables  = { environment = "dev" }
  auto_apply = true
}

group "staging" {
  members     = ["./live/staging"]
  tags        = ["staging"]
  variables   = { environment = "staging" }
  apply_after = ["dev", "dev-smoke"]
}

group "prod" {
  members     = ["./live/prod"]
  tags        = ["prod"]
  variables   = { environment = "prod" }
  apply_after = ["staging", "staging-smoke"]
}

group "databases" {
  members = ["*-database"]
  keys    = ["database"]
}

# Ten stacks.

stack "dev-network" {
  path = "live/dev/network"
}

stack "dev-database" {
  path  = "live/dev/database"
  after = ["dev-network"]
}

stack "dev-app" {
  path        = "live/dev/app"
  after       = ["dev-database"]
  modified_by = ["dev-network"]
}

stack "staging-network" {
  path = "live/staging/network"
}

stack "staging-database" {
  path  = "live/staging/database"
  after = ["staging-network"]
}

stack "staging-app" {
  path        = "live/staging/app"
  after       = ["staging-database"]
  modified_by = ["staging-network"]
}

stack "prod-network" {
  path = "live/prod/network"
}

stack "prod-database" {
  path  = "live/prod/database"
  after = ["prod-network"]
}

stack "prod-app" {
  path        = "live/prod/app"
  after       = ["prod-database"]
  modified_by = ["prod-network"]
}

stack "monitoring" {
  path   = "shared/monitoring"
  tags   = ["shared"]
  inputs = { subnets = stack.vpn.output.subnets } # so that it comes after that
  order  = "last"
}

# Two plain root modules.

stack "dns" {
  path   = "shared/dns"
  tags   = ["shared"]
  before = ["./live"]
}

stack "vpn" {
  path = "shared/vpn"
  tags = ["shared"]
}

# What else is to be done.

task "check" {
  description = "Nothing unfinished goes anywhere."
  command     = "! grep -rn FIXME live modules shared"
  stage       = "pre"
}

task "dev-smoke" {
  command     = "tasks/smoke.sh"
  environment = { ENVIRONMENT = "dev" }
  require     = ["dev"]
  timeout     = "1m"
  retries     = 1
}

task "staging-smoke" {
  command     = "tasks/smoke.sh"
  environment = { ENVIRONMENT = "staging" }
  require     = ["staging"]
  timeout     = "1m"
  retries     = 1
}

task "prod-smoke" {
  command     = "tasks/smoke.sh"
  environment = { ENVIRONMENT = "prod" }
  require     = ["prod"]
  timeout     = "1m"
  retries     = 1
}

task "backup" {
  description = "Only if the database would change, after its plan and before its apply."
  command     = "tasks/backup.sh"
  prereq      = ["prod-database"]
}

task "page" {
  command = "echo 'paging whoever is on call'"
  onfail  = ["staging", "prod"]
}

task "report" {
  command = "git log -1 --format='%h %s' | tee -a deployments.log"
  stage   = "post/100"
  after   = ["*-smoke"]
}
