// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/cairnstacks/cairn/internal/engine/binary/runner"
	"github.com/cairnstacks/cairn/internal/testenv/toolcache"
)

// networkModule is a network of three tiers in three zones. The configuration of the provider asks
// nobody for anything while planning.
const networkModule = `terraform {
  required_providers {
    aws = { source = "hashicorp/aws" }
  }
}

variable "in" {
  type = string
}

locals {
  zones = ["eu-central-1a", "eu-central-1b", "eu-central-1c"]
  tiers = ["public", "private", "data"]
  subnets = { for pair in setproduct(range(3), range(3)) : "${local.tiers[pair[0]]}-${pair[1]}" => {
    tier = local.tiers[pair[0]], zone = local.zones[pair[1]], number = pair[0] * 3 + pair[1]
  } }
}

resource "aws_vpc" "this" {
  cidr_block           = "10.0.0.0/16"
  enable_dns_hostnames = true
  tags                 = { Name = var.in }
}

resource "aws_subnet" "this" {
  for_each          = local.subnets
  vpc_id            = aws_vpc.this.id
  availability_zone = each.value.zone
  cidr_block        = cidrsubnet(aws_vpc.this.cidr_block, 8, each.value.number)
  tags              = { Name = "${var.in}-${each.key}" }
}

resource "aws_internet_gateway" "this" {
  vpc_id = aws_vpc.this.id
}

resource "aws_eip" "nat" {
  count  = 3
  domain = "vpc"
}

resource "aws_nat_gateway" "this" {
  count         = 3
  allocation_id = aws_eip.nat[count.index].id
  subnet_id     = aws_subnet.this["public-${count.index}"].id
  depends_on    = [aws_internet_gateway.this]
}

resource "aws_route_table" "public" {
  vpc_id = aws_vpc.this.id
}

resource "aws_route" "public" {
  route_table_id         = aws_route_table.public.id
  destination_cidr_block = "0.0.0.0/0"
  gateway_id             = aws_internet_gateway.this.id
}

resource "aws_route_table" "private" {
  count  = 3
  vpc_id = aws_vpc.this.id
}

resource "aws_route" "private" {
  count                  = 3
  route_table_id         = aws_route_table.private[count.index].id
  destination_cidr_block = "0.0.0.0/0"
  nat_gateway_id         = aws_nat_gateway.this[count.index].id
}

resource "aws_route_table_association" "this" {
  for_each       = local.subnets
  subnet_id      = aws_subnet.this[each.key].id
  route_table_id = each.value.tier == "public" ? aws_route_table.public.id : aws_route_table.private[each.value.number % 3].id
}

resource "aws_security_group" "this" {
  for_each = toset(local.tiers)
  name     = "${var.in}-${each.key}"
  vpc_id   = aws_vpc.this.id

  dynamic "ingress" {
    for_each = [80, 443]
    content {
      from_port   = ingress.value
      to_port     = ingress.value
      protocol    = "tcp"
      cidr_blocks = [aws_vpc.this.cidr_block]
    }
  }
}

output "out" {
  value = aws_vpc.this.id
}
`

const networkArguments = `region                      = "eu-central-1"
  access_key                  = "none"
  secret_key                  = "none"
  skip_credentials_validation = true
  skip_metadata_api_check     = true
  skip_region_validation      = true
  skip_requesting_account_id  = true
`

// networkRun is one way to plan networks, and how often it is measured.
type networkRun struct {
	title  string
	rounds int
	plan   func(ctx context.Context, f *fixture) (stepCost, int64, error)
}

// measureNetworks plans one and ten components with a large provider, which nobody applies.
func (r *report) measureNetworks(ctx context.Context, opts options, dir string) error {
	config := filepath.Join(dir, "networks.tfrc")
	if err := os.WriteFile(config, toolcache.CLIConfig(opts.mirror), 0o600); err != nil {
		return err
	}
	m := module{
		source: networkModule, config: config, providers: "  providers = { aws = provider.aws.this }\n",
		head: "required_providers {\n  aws = { source = \"hashicorp/aws\", version = \">= 5.0.0\" }\n}\n\nprovider \"aws\" \"this\" {\n" +
			"  config {\n  " + networkArguments + "  }\n}\n\n",
	}
	loop := &bare{"bare processes", opts.engine, runner.Environ(os.Environ(), nil)}
	native := &program{"cairn, native engine", opts.cairn, "native"}
	binary := &program{"cairn, binary engine", opts.cairn, opts.engine}
	var fixtures []*fixture
	for _, n := range []int{1, 10} {
		f, err := newNetworks(ctx, filepath.Join(dir, fmt.Sprint("networks-", n)), n, m, loop, native, binary)
		if err != nil {
			return err
		}
		fixtures = append(fixtures, f)
	}
	runs := []networkRun{
		{loop.title, opts.largeRounds, func(ctx context.Context, f *fixture) (planned stepCost, _ int64, err error) {
			err = measureUnits(&planned, 0, len(f.units), 2, func(i int) (time.Duration, error) { return loop.plan(ctx, f, i, nil) })
			return planned, 0, err
		}},
		{native.title + ", its first plan", opts.rounds, func(ctx context.Context, f *fixture) (stepCost, int64, error) {
			return planFirst(ctx, native, f, dir)
		}},
		{native.title + ", later", opts.rounds, planNetworks(native)},
		{binary.title, opts.largeRounds, planNetworks(binary)},
	}
	table := newTable("run by", "components", "plan s", "CPU s", "peak MB")
	for _, run := range runs {
		if err := run.addRows(ctx, table, fixtures); err != nil {
			return err
		}
	}
	r.section("A large provider", fmt.Sprintf("Plans of networks of 37 resources with the provider `aws`, two components at a time. "+
		"Medians of %d rounds with the native engine, of %d otherwise. "+
		"The first plan of a user asks the provider for its schemas. The peak is that of the largest process.", opts.rounds,
		opts.largeRounds), table)
	return nil
}

// newNetworks writes n components, and installs the provider for all that plan them.
func newNetworks(ctx context.Context, dir string, n int, m module, loop *bare, programs ...*program) (*fixture, error) {
	f, err := newFixture(dir, n, wide, m)
	if err != nil {
		return nil, err
	}
	for _, unit := range f.units {
		if err := writeFile(filepath.Join(unit, "provider.tf"), "provider \"aws\" {\n  "+networkArguments+"}\n"); err != nil {
			return nil, err
		}
	}
	if err := loop.prepare(ctx, f); err != nil {
		return nil, err
	}
	for _, p := range programs {
		if err := p.prepare(ctx, f); err != nil {
			return nil, err
		}
	}
	return f, nil
}

func planNetworks(p *program) func(context.Context, *fixture) (stepCost, int64, error) {
	return func(ctx context.Context, f *fixture) (stepCost, int64, error) {
		var t timing
		planned, err := p.command(ctx, f, &t, "plan", "-parallelism=2")
		return planned, t.peak, err
	}
}

// planFirst plans as a user for whom no schemas are kept yet.
func planFirst(ctx context.Context, p *program, f *fixture, dir string) (stepCost, int64, error) {
	home, err := os.MkdirTemp(dir, "caches-")
	if err != nil {
		return stepCost{}, 0, err
	}
	fresh := *f
	fresh.env = []string{"XDG_CACHE_HOME=" + home}
	return planNetworks(p)(ctx, &fresh)
}

// addRows plans the fixtures in turns.
func (n networkRun) addRows(ctx context.Context, table *table, fixtures []*fixture) error {
	if n.rounds < 1 {
		return nil
	}
	elapsed, processor, peak := make([][]float64, len(fixtures)), make([][]float64, len(fixtures)), make([]int64, len(fixtures))
	for round := range n.rounds {
		for i, f := range fixtures {
			planned, memory, err := n.plan(ctx, f)
			if err != nil {
				return fmt.Errorf("%s: %w", n.title, err)
			}
			progress("networks: %s: %d components: round %d of %d: %.1f s", n.title, len(f.units), round+1, n.rounds, planned.elapsed.Seconds())
			elapsed[i] = append(elapsed[i], planned.elapsed.Seconds())
			processor[i] = append(processor[i], planned.processor.Seconds())
			peak[i] = max(peak[i], memory)
		}
	}
	for i, f := range fixtures {
		table.row(n.title, len(f.units), seconds(median(elapsed[i])), seconds(median(processor[i])), megabytes(peak[i]))
	}
	return nil
}
