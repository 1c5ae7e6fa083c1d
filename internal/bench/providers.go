// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/cairnstacks/cairn/internal/engine/binary/runner"
	"github.com/cairnstacks/cairn/internal/testenv/toolcache"
)

// timeModule has three resources of a provider that is small and real.
const timeModule = `terraform {
  required_providers {
    time = { source = "hashicorp/time" }
  }
}

variable "in" {
  type = string
}

resource "time_static" "a" {
  triggers = { in = var.in }
}

resource "time_offset" "b" {
  base_rfc3339 = time_static.a.rfc3339
  offset_days  = 7
}

resource "time_static" "c" {
  triggers = { b = time_offset.b.rfc3339 }
}

output "out" {
  value = time_static.c.id
}
`

// slowModule has one resource of a provider that takes its time to start.
const slowModule = providerModule + `
output "out" {
  value = fake_resource.a.id
}
`

// slowStart is how long that takes.
const slowStart = "1s"

// measureProviders compares stacks whose modules need providers that are processes.
func (r *report) measureProviders(ctx context.Context, opts options, dir string) error {
	cache, err := toolcache.Open(os.Stderr)
	if err != nil {
		return err
	}
	mirror, err := cache.Mirror(ctx, toolcache.Fake, toolcache.Time)
	if err != nil {
		return err
	}
	config := filepath.Join(dir, "providers.tfrc")
	if err := os.WriteFile(config, toolcache.CLIConfig(mirror), 0o600); err != nil {
		return err
	}
	for name, value := range map[string]string{"CAIRN_FAKE_START_DELAY": slowStart, "CAIRN_FAKE_STORE": filepath.Join(dir, "store")} {
		if err := os.Setenv(name, value); err != nil { // of the processes of all subjects
			return err
		}
	}
	subjects := []subject{
		&bare{"bare processes", opts.engine, runner.Environ(os.Environ(), nil)},
		&program{"cairn, native engine", opts.cairn, "native"}, &program{"cairn, binary engine", opts.cairn, opts.engine},
	}
	table := newTable(append([]string{"provider"}, comparisonHeads...)...)
	for _, m := range []struct {
		name       string
		components int
		module     module
	}{
		{"`time`, three resources", 50, module{
			source: timeModule, resources: 3, config: config, providers: "  providers = { time = provider.time.this }\n",
			head: "required_providers {\n  time = { source = \"hashicorp/time\", version = \">= 0.1.0\" }\n}\n\nprovider \"time\" \"this\" {}\n\n",
		}},
		{"one that starts in " + slowStart + ", one resource", 10, module{
			source: slowModule, resources: 1, config: config, head: stackProvider, providers: "  providers = { fake = provider.fake.this }\n",
		}},
	} {
		c := comparison{components: m.components, shape: wide, parallelism: 10, rounds: opts.largeRounds, module: m.module}
		before := newTable(comparisonHeads...)
		if err := c.addRows(ctx, before, subjects, filepath.Join(dir, fmt.Sprint("provider-", m.components))); err != nil {
			return err
		}
		for _, row := range before.rows[1:] {
			table.rows = append(table.rows, append([]string{m.name}, row...))
		}
	}
	r.section("Modules with providers", fmt.Sprintf("Medians of %d rounds. `init` was done before.", opts.largeRounds), table)
	if opts.mirror == "" {
		return nil
	}
	return r.measureNetworks(ctx, opts, dir)
}
