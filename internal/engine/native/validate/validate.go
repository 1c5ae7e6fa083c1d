// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package validate

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/engine/native/body"
	"github.com/cairnstacks/cairn/internal/engine/native/deps"
	"github.com/cairnstacks/cairn/internal/module"
	"github.com/cairnstacks/cairn/internal/nearest"
	"github.com/cairnstacks/cairn/internal/providers/provider"
	"github.com/cairnstacks/cairn/internal/providers/schema"
	"github.com/cairnstacks/cairn/stackaddrs"
)

// Schemas supplies the schemas of providers, nil for those that are not known (rule V4).
type Schemas interface {
	Schema(of stackaddrs.Provider) *schema.Provider
}

// Validator asks providers to check configurations.
type Validator interface {
	ValidateResource(ctx context.Context, of stackaddrs.Provider, mode stackaddrs.ResourceMode, typeName string, config cty.Value) provider.Diagnostics
	ValidateAction(ctx context.Context, of stackaddrs.Provider, typeName string, config cty.Value) provider.Diagnostics
}

// Options are the parameters of [Tree].
type Options struct {
	Schemas Schemas

	// Validator may be nil: providers are not asked then.
	Validator Validator

	// Functions returns the functions that a module may call, in a context without variables.
	Functions func(*module.Node) *hcl.EvalContext

	// Graph has the dependencies in the tree. Nil has them found.
	Graph *deps.Graph

	// RootPath and WorkPath are the values of path.root and path.cwd.
	RootPath, WorkPath string
}

// Tree checks a tree of modules that could be loaded without errors. The diagnostics are in the
// order of places.
func Tree(ctx context.Context, tree *module.Node, opts Options) hcl.Diagnostics {
	if opts.Graph == nil {
		opts.Graph = deps.New(tree)
	}
	c := &checker{ctx: ctx, opts: opts, decoders: map[*schema.Block]*body.Decoder{}}
	c.diags = opts.Graph.Cycles()
	c.module(tree, nil)
	c.imports(tree)
	slices.SortStableFunc(c.diags, func(a, b *hcl.Diagnostic) int { return compare(a.Subject, b.Subject) })
	return module.WithoutRepeats(c.diags)
}

func compare(a, b *hcl.Range) int {
	switch {
	case a == nil || b == nil:
		return cmp.Compare(btoi(a == nil), btoi(b == nil))
	default:
		return cmp.Or(cmp.Compare(a.Filename, b.Filename), cmp.Compare(a.Start.Byte, b.Start.Byte))
	}
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// checker checks one tree.
type checker struct {
	ctx      context.Context //nolint:containedctx // of the one call of Tree that the checker is made for
	opts     Options
	decoders map[*schema.Block]*body.Decoder
	hints    nearest.Hints
	diags    hcl.Diagnostics
}

// moduleChecker checks a module in its place in the tree.
type moduleChecker struct {
	*checker
	tree      *module.Node
	functions *hcl.EvalContext
	inputs    map[string]cty.Value // the arguments of the call; nil for the root
	locals    map[string]cty.Value // that were evaluated
}

// module checks a module and those that it calls.
func (c *checker) module(tree *module.Node, inputs map[string]cty.Value) {
	m := &moduleChecker{checker: c, tree: tree, functions: c.opts.Functions(tree), inputs: inputs, locals: map[string]cty.Value{}}
	m.requirements()
	for _, name := range sorted(tree.Variables) {
		m.variable(tree.Variables[name])
	}
	for _, name := range sorted(tree.Locals) {
		m.local(name)
	}
	for _, addr := range slices.SortedFunc(maps.Keys(tree.Resources), stackaddrs.Resource.Compare) {
		m.resource(tree.Resources[addr])
	}
	for _, id := range sorted(tree.Actions) {
		m.action(tree.Actions[id])
	}
	for _, name := range sorted(tree.ProviderMeta) {
		m.providerMeta(tree.ProviderMeta[name])
	}
	for _, removed := range tree.Removed {
		m.removed(removed)
	}
	for _, name := range sorted(tree.Checks) {
		m.check(tree.Checks[name])
	}
	for _, name := range sorted(tree.Outputs) {
		m.output(tree.Outputs[name])
	}
	for _, name := range sorted(tree.Calls) {
		given := m.call(tree.Calls[name])
		if child := tree.Children[name]; child != nil {
			c.module(child, given)
		}
	}
}

func sorted[T any](m map[string]T) []string { return slices.Sorted(maps.Keys(m)) }

func (c *checker) add(diags hcl.Diagnostics) bool {
	for _, diag := range diags {
		c.diags = append(c.diags, withProviderFunction(diag))
	}
	return !diags.HasErrors()
}

// problem reports an error.
func (c *checker) problem(at hcl.Range, summary, detail string) {
	c.diags = append(c.diags, &hcl.Diagnostic{Severity: hcl.DiagError, Summary: summary, Detail: detail, Subject: &at})
}

// warn adds a warning.
func (c *checker) warn(at hcl.Range, summary, detail string) {
	c.diags = append(c.diags, &hcl.Diagnostic{Severity: hcl.DiagWarning, Summary: summary, Detail: detail, Subject: &at})
}

// decoder returns the decoder for a schema, made once.
func (c *checker) decoder(block *schema.Block) *body.Decoder {
	decoder := c.decoders[block]
	if decoder == nil {
		decoder = body.NewDecoder(block)
		c.decoders[block] = decoder
	}
	return decoder
}

// schemaOf returns the schema of a resource, and whether it is known that there is none.
func (c *checker) schemaOf(of stackaddrs.Provider, addr stackaddrs.Resource) (found *schema.Schema, missing bool) {
	p := c.opts.Schemas.Schema(of)
	if p == nil {
		return nil, false
	}
	found = types(p, addr.Mode)[addr.Type]
	return found, found == nil
}

func types(p *schema.Provider, mode stackaddrs.ResourceMode) map[string]*schema.Schema {
	switch mode {
	case stackaddrs.DataResource:
		return p.Data
	case stackaddrs.EphemeralResource:
		return p.Ephemeral
	default:
		return p.Managed
	}
}
