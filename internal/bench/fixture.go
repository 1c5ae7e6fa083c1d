// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package main

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// shape says which components of a stack use outputs of which others.
type shape string

const (
	wide    shape = "wide"    // each is independent
	chain   shape = "chain"   // each uses the one before
	layered shape = "layered" // ten layers, each uses three of the layer below
)

var shapes = []shape{wide, chain, layered}

const layersEach = 10 // of a layered stack

// width is the number of components in each layer of a stack of n components, but for the last.
func (s shape) width(n int) int {
	switch s {
	case chain:
		return 1
	case layered:
		return (n + layersEach - 1) / layersEach
	default:
		return n
	}
}

// uses returns the components whose outputs component i of n uses.
func (s shape) uses(i, n int) []int {
	width := s.width(n)
	layer, place := i/width, i%width
	if layer == 0 {
		return nil
	}
	var used []int
	for k := range min(3, width) {
		used = append(used, (layer-1)*width+(place+k)%width)
	}
	return used
}

// module is that of all components of a fixture.
type module struct {
	source    string
	head      string // of the stack: its providers
	providers string // arguments of the component
	resources int
	config    string // CLI configuration for its providers, "" if it needs none
}

// builtInModule has three resources of the built-in provider in a row.
func builtInModule() module { return module{source: moduleSource, resources: resourcesEach} }

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

// fixture is the same work twice: as a stack, and as units, which are directories with a module
// each.
type fixture struct {
	module
	shape shape
	stack string
	units []string
	env   []string // of its processes, besides that of the user
}

// newFixture writes n components below dir.
func newFixture(dir string, n int, s shape, m module) (*fixture, error) {
	f := &fixture{module: m, shape: s, stack: filepath.Join(dir, "stack")}
	var components strings.Builder
	components.WriteString(m.head)
	for i := range n {
		fmt.Fprintf(&components,
			"component \"c%d\" {\n  source = \"./mod\"\n  inputs = {\n    in = %s\n  }\n%s}\n\n", i, inputExpression(i, s.uses(i, n)), m.providers)
		unit := filepath.Join(dir, "units", fmt.Sprintf("c%d", i))
		if err := writeFile(filepath.Join(unit, moduleFile), m.source); err != nil {
			return nil, err
		}
		f.units = append(f.units, unit)
	}
	if err := writeFile(filepath.Join(f.stack, "main.tfcomponent.hcl"), components.String()); err != nil {
		return nil, err
	}
	return f, writeFile(filepath.Join(f.stack, "mod", moduleFile), m.source)
}

// unitInput is the input of component i, which uses components with these outputs.
func unitInput(i int, outputs ...string) string {
	switch len(outputs) {
	case 0:
		return fmt.Sprintf("value %d", i)
	case 1:
		return outputs[0]
	default:
		return fmt.Sprintf("%x", sha256.Sum256([]byte(strings.Join(outputs, " "))))
	}
}

// inputExpression is the same as an expression.
func inputExpression(i int, uses []int) string {
	if len(uses) == 0 {
		return fmt.Sprintf("%q", unitInput(i))
	}
	var outputs []string
	for _, used := range uses {
		outputs = append(outputs, fmt.Sprintf("component.c%d.out", used))
	}
	if len(outputs) == 1 {
		return outputs[0]
	}
	return "sha256(join(\" \", [" + strings.Join(outputs, ", ") + "]))"
}

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

// environ returns the environment of processes, with that of the fixture and the providers of the
// module.
func (f *fixture) environ(environ []string) []string {
	environ = append(environ, f.env...)
	if f.config == "" {
		return environ
	}
	return append(environ, "TF_CLI_CONFIG_FILE="+f.config)
}
