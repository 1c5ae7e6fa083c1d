// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/cairnstacks/cairn/internal/engine/binary/runner"
	"github.com/cairnstacks/cairn/internal/testenv/toolcache"
)

// stacksInRun is how many stacks a run is measured with.
const stacksInRun = 50

// manyStacks are stacks of one component each, and the same module as many units.
type manyStacks struct {
	root   string // of the stacks and their workspace file
	stacks []string
	units  []string
}

// providerModule needs a provider that is installed.
const providerModule = `terraform {
  required_providers {
    fake = { source = "cairnstacks/fake" }
  }
}

variable "in" {
  type = string
}

resource "fake_resource" "a" {
  value = var.in
}
`

const stackProvider = "required_providers {\n  fake = { source = \"cairnstacks/fake\", version = \">= 0.1.0\" }\n}\n\n" +
	"provider \"fake\" \"this\" {}\n\n"

// newManyStacks writes stacks below dir, which all use one module.
func newManyStacks(dir string, n int, withProvider bool) (*manyStacks, error) {
	f := &manyStacks{root: filepath.Join(dir, "stacks")}
	source, head, providers := moduleSource, "", ""
	if withProvider {
		source, head, providers = providerModule, stackProvider, "  providers = { fake = provider.fake.this }\n"
	}
	files := map[string]string{filepath.Join(f.root, "module", moduleFile): source}
	var workspace strings.Builder
	for i := range n {
		name := fmt.Sprintf("s%d", i)
		fmt.Fprintf(&workspace, "stack %q {}\n", name)
		stack, unit := filepath.Join(f.root, name), filepath.Join(dir, "units", name)
		files[filepath.Join(stack, "main.tfcomponent.hcl")] = head +
			fmt.Sprintf("component \"a\" {\n  source = \"../module\"\n  inputs = { in = %q }\n%s}\n", unitInput(i), providers)
		files[filepath.Join(unit, moduleFile)] = source
		f.stacks, f.units = append(f.stacks, stack), append(f.units, unit)
	}
	files[filepath.Join(f.root, "cairn.workspace.hcl")] = workspace.String()
	for name, content := range files {
		if err := writeFile(name, content); err != nil {
			return nil, err
		}
	}
	return f, nil
}

// forget makes the stacks new again.
func (f *manyStacks) forget() error {
	for _, stack := range f.stacks {
		for _, name := range []string{".cairn", ".terraform.lock.hcl", "cairn.state.db"} {
			if err := os.RemoveAll(filepath.Join(stack, name)); err != nil {
				return err
			}
		}
	}
	return nil
}

// run plans all stacks in one run.
func (f *manyStacks) run(ctx context.Context, opts options, env []string) (time.Duration, error) {
	cmd := command(ctx, opts.cairn, "run", "plan")
	cmd.Dir, cmd.Env = f.root, append(env, "CAIRN_ENGINE="+opts.engine)
	_, processor, err := timed(cmd)
	return processor, err
}

// bare runs a command of the engine in each unit.
func (f *manyStacks) bare(ctx context.Context, opts options, env []string, args func(unit int) []string) (time.Duration, error) {
	var all time.Duration
	for i, unit := range f.units {
		cmd := command(ctx, opts.engine, args(i)...)
		cmd.Dir, cmd.Env = unit, runner.Environ(env, nil)
		_, processor, err := timed(cmd)
		if err != nil {
			return 0, err
		}
		all += processor
	}
	return all, nil
}

// measureManyStacks compares a run over many stacks with as many bare plans.
func (r *report) measureManyStacks(ctx context.Context, opts options, dir string) error {
	cache, err := toolcache.Open(os.Stderr)
	if err != nil {
		return err
	}
	mirror, err := cache.Mirror(ctx, toolcache.Fake)
	if err != nil {
		return err
	}
	config := filepath.Join(dir, "cli.tfrc")
	if err := os.WriteFile(config, toolcache.CLIConfig(mirror), 0o600); err != nil {
		return err
	}
	env := append(plainEnvironment(), "TF_CLI_CONFIG_FILE="+config)
	table := newTable("stacks of one component", "new stacks", "planned before", "bare plans", "bare init")
	for _, withProvider := range []bool{false, true} {
		name := "with built-in resources"
		if withProvider {
			name = "with a provider"
		}
		f, err := newManyStacks(filepath.Join(dir, fmt.Sprintf("many-%t", withProvider)), stacksInRun, withProvider)
		if err != nil {
			return err
		}
		columns, err := f.measure(ctx, opts, env)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		cells := []any{name}
		for _, column := range columns {
			cells = append(cells, seconds(median(column)))
		}
		table.row(cells...)
	}
	r.section("A run over many stacks",
		fmt.Sprintf("`cairn run plan` over %d stacks that use one module, and as many bare plans, one at a time. Seconds of processor time "+
			"of all processes, medians of %d rounds. New stacks have no `.cairn` directory and no lock file; "+
			"bare init is the engine's installation of the provider in each directory.", stacksInRun, opts.rounds), table)
	return nil
}

// measure returns the seconds of each round: of a run over new stacks, of another run, of bare
// plans, and of the installations that they need.
func (f *manyStacks) measure(ctx context.Context, opts options, env []string) (columns [4][]float64, err error) {
	initArgs := func(int) []string { return []string{"init", "-input=false"} }
	planArgs := func(i int) []string {
		return []string{"plan", "-input=false", "-out=" + unitPlan, "-var=in=" + unitInput(i)}
	}
	steps := []func() (time.Duration, error){
		func() (time.Duration, error) { return f.run(ctx, opts, env) },
		func() (time.Duration, error) { return f.run(ctx, opts, env) },
		func() (time.Duration, error) { return f.bare(ctx, opts, env, planArgs) },
		func() (time.Duration, error) { return f.bare(ctx, opts, env, initArgs) },
	}
	for round := range opts.rounds {
		if err := f.forget(); err != nil {
			return columns, err
		}
		for _, column := range []int{0, 1, 3, 2} { // bare plans need the files that init installs
			took, err := steps[column]()
			if err != nil {
				return columns, err
			}
			columns[column] = append(columns[column], took.Seconds())
		}
		progress("many stacks: round %d of %d", round+1, opts.rounds)
	}
	return columns, nil
}
