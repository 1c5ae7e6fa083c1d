locals {
  a = path.module # want error "Unknown symbol" `path`
  b = terraform.workspace # want error "Unknown symbol" `.workspace`
  c = each.index # want error "Unknown symbol" `.index`
  d = var["x"] # want error "Incomplete reference" `["x"]`
  e = [local] # want error "Incomplete reference" `local`
}
