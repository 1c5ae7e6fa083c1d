// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package stackgen writes random stack configurations that are valid, for tests of rules that hold
// for all of them, and for benchmarks.
//
// Rules:
//
//   - G1. Equal options give equal stacks, on every machine.
//   - G2. The targets of references in a generated stack were generated before them, so there are
//     no cycles. Its files have the blocks in another order.
//   - G3. Without failures from outside, a stack validates, plans and applies
//     without errors, from nothing and from the version before it.
//   - G4. Expressions have no side effects and do not ask for the time: planning
//     again after an apply finds nothing to do.
//   - G5. Arguments that decide on instances (for_each) may be unknown while planning, of removed
//     blocks too, but an instance is removed only together with one of those.
//
// The modules of a stack use terraform_data only. Some take a configuration of
// the [Provider], where [Options.Providers] allows that.
package stackgen

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// Provider is the provider that some modules take a configuration of.
var Provider = stackaddrs.Provider{Hostname: "example.com", Namespace: "test", Type: "fake"}

// ProviderSchema is the schema of the [Provider].
var ProviderSchema = engine.ProviderSchema{Config: engine.Block{Attributes: map[string]engine.Attribute{
	"region": {Type: cty.String},
	"token":  {Type: cty.String},
}}}

// Options are the parameters of a generated stack.
type Options struct {
	Seed uint64

	// Components is about how many component blocks there are; 0 leaves that to
	// chance, from 1 to 60 and mostly few.
	Components int

	// Providers allows configurations of the [Provider].
	Providers bool

	// Repeatable keeps the identifiers of objects, which are others each time, out of all values, so
	// that the results of several runs can be compared.
	Repeatable bool
}

// Stack is a generated stack in two versions.
type Stack struct {
	First Version

	// Second is the stack after some changes: other inputs, other expressions,
	// new components, and removed ones with a block that says so.
	Second Version
}

// Version is one version of a stack.
type Version struct {
	// Files has the texts of all files by their names in the directory of the
	// stack, with slashes.
	Files map[string]string

	// Inputs are values for root variables. Those not here have a default.
	Inputs map[string]cty.Value

	// Requires reports for each component which ones its inputs, instances and
	// provider configurations take values from, or its depends_on names: paths
	// through stacks without instance keys, sorted.
	Requires map[string][]string
}

// Generate writes a stack.
func Generate(opts Options) *Stack {
	first := newGenerator(opts).generate()
	changed := newGenerator(opts)
	changed.generate()
	changed.change()
	return &Stack{First: first.version(), Second: changed.version()}
}

func newGenerator(opts Options) *generator {
	g := &generator{rng: rand.New(rand.NewPCG(opts.Seed, 0)), providers: opts.Providers, repeatable: opts.Repeatable}
	if opts.Components == 0 {
		opts.Components = 1 + g.rng.IntN([]int{4, 8, 16, 60}[g.rng.IntN(4)])
	}
	g.budget = opts.Components
	return g
}

// Write writes the files of a version to a directory, and removes all other files in it.
func (v Version) Write(dir string) error {
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	for name, text := range v.Files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil { //nolint:gosec // sources are for everybody
			return err
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil { //nolint:gosec // sources are for everybody
			return err
		}
	}
	return nil
}

// String returns the files as one txtar archive, and the inputs in its comment.
func (v Version) String() string {
	var comment bytes.Buffer
	for _, name := range slices.Sorted(maps.Keys(v.Inputs)) {
		fmt.Fprintf(&comment, "var.%s = %#v\n", name, v.Inputs[name])
	}
	archive := &txtar.Archive{Comment: comment.Bytes()}
	for _, name := range slices.Sorted(maps.Keys(v.Files)) {
		archive.Files = append(archive.Files, txtar.File{Name: name, Data: []byte(v.Files[name])})
	}
	return string(txtar.Format(archive))
}
