// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// moduleSource is the module of every component: three resources of the built-in provider in a row.
const moduleSource = `variable "in" {
  type = string
}

resource "terraform_data" "a" {
  input = var.in
}

resource "terraform_data" "b" {
  input = terraform_data.a.output
}

resource "terraform_data" "c" {
  input = terraform_data.b.output
}

output "out" {
  value = terraform_data.c.output
}
`

// resourcesEach is the number of resources in moduleSource.
const resourcesEach = 3

const (
	moduleFile = "main.tf"
	stateFile  = "terraform.tfstate" // of a unit
	unitPlan   = "plan.tfplan"       // of a unit
)

// fixture is the same work twice: as a stack, and as units, which are directories with a module each.
type fixture struct {
	stack string
	units []string
	chain bool // each component uses the output of the one before
}

// newFixture writes n components below dir.
func newFixture(dir string, n int, chain bool) (*fixture, error) {
	f := &fixture{stack: filepath.Join(dir, "stack"), chain: chain}
	var components strings.Builder
	for i := range n {
		input := fmt.Sprintf("%q", unitInput(i))
		if chain && i > 0 {
			input = fmt.Sprintf("component.c%d.out", i-1)
		}
		fmt.Fprintf(&components, "component \"c%d\" {\n  source = \"./mod\"\n  inputs = {\n    in = %s\n  }\n}\n\n", i, input)
		unit := filepath.Join(dir, "units", fmt.Sprintf("c%d", i))
		if err := writeFile(filepath.Join(unit, moduleFile), moduleSource); err != nil {
			return nil, err
		}
		f.units = append(f.units, unit)
	}
	if err := writeFile(filepath.Join(f.stack, "main.tfcomponent.hcl"), components.String()); err != nil {
		return nil, err
	}
	return f, writeFile(filepath.Join(f.stack, "mod", moduleFile), moduleSource)
}

// unitInput is the input of a component that uses no other.
func unitInput(i int) string { return fmt.Sprintf("value %d", i) }

func writeFile(name, content string) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	return os.WriteFile(name, []byte(content), 0o644)
}

// reset removes states and plans, so that the next run starts from nothing (rule B2).
func (f *fixture) reset() error {
	var errs []error
	remove := func(pattern string) {
		names, err := filepath.Glob(pattern)
		errs = append(errs, err)
		for _, name := range names {
			errs = append(errs, os.Remove(name))
		}
	}
	remove(filepath.Join(f.stack, "*.state.db*"))
	remove(filepath.Join(f.stack, stackPlan))
	for _, unit := range f.units {
		remove(filepath.Join(unit, stateFile+"*"))
		remove(filepath.Join(unit, unitPlan))
	}
	return errors.Join(errs...)
}
