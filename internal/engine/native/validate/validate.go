// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package validate

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/diagnostic/identity"
	"github.com/cairnstacks/cairn/internal/engine/native/body"
	"github.com/cairnstacks/cairn/internal/engine/native/deps"
	"github.com/cairnstacks/cairn/internal/engine/native/eval"
	"github.com/cairnstacks/cairn/internal/engine/native/resource"
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/module"
	"github.com/cairnstacks/cairn/internal/module/refs"
	"github.com/cairnstacks/cairn/internal/providers/provider"
	"github.com/cairnstacks/cairn/internal/providers/schema"
	"github.com/cairnstacks/cairn/promising"
	"github.com/cairnstacks/cairn/stackaddrs"
)

// Schemas supplies the schemas of providers, nil for those that are not known (rule V2).
type Schemas interface {
	Schema(of stackaddrs.Provider) *schema.Provider
}

// Validator asks providers to check configurations.
type Validator interface {
	ValidateResource(ctx context.Context, of stackaddrs.Provider, mode stackaddrs.ResourceMode, typeName string,
		config cty.Value) provider.Diagnostics
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

	// Types are those of resources, which later phases use as well. Nil makes new ones.
	Types *resource.Types

	// RootPath and WorkPath are the values of path.root and path.cwd.
	RootPath, WorkPath string

	// Generates is set if blocks will be made for the objects that import blocks of the root module
	// name and that it has no blocks for.
	Generates bool
}

// Tree checks a tree of modules that could be loaded without errors. The diagnostics are in the
// order of places.
func Tree(ctx context.Context, tree *module.Node, opts Options) hcl.Diagnostics {
	if opts.Graph == nil {
		opts.Graph = deps.New(tree)
	}
	if opts.Types == nil {
		opts.Types = &resource.Types{}
	}
	c := &checker{Options: opts}
	c.Eval = eval.New(eval.Options{
		Tree: tree, Phase: eval.Validate, Objects: c, Deferral: true, Functions: opts.Functions, RootPath: opts.RootPath, WorkPath: opts.WorkPath,
	})
	c.Runtime.Types = opts.Types
	_, err := promising.MainTask(ctx, func(ctx context.Context) (struct{}, error) {
		c.Eval.Validate(ctx, c)
		return struct{}{}, nil
	})
	if err != nil {
		c.problem(hcl.Range{}, "Interrupted validation", err.Error()+".")
	}
	diags := append(opts.Graph.Cycles(), c.Eval.Diagnostics.All()...)
	slices.SortStableFunc(diags, func(a, b *hcl.Diagnostic) int {
		return cmp.Or(compare(a.Subject, b.Subject), cmp.Compare(a.Summary, b.Summary), cmp.Compare(a.Detail, b.Detail))
	})
	return identity.Distinct(diags)
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
	Options
	resource.Runtime // which has no providers

	resource string // address of the one that is checked; ""

	unknowns sync.Map // cty.Value by *resource.Type, of those with deprecated parts
}

// Object implements [eval.Objects]: an object that is not there yet.
func (c *checker) Object(_ context.Context, r *eval.Resource, _ stackaddrs.InstanceKey) (cty.Value, bool) {
	if p := c.Schemas.Schema(r.Config.ProviderAddr); p != nil {
		if ty := c.Options.Types.Of(r.Config.ProviderAddr, p, r.Config.Addr); ty != nil {
			return c.unknown(ty), true
		}
	}
	return cty.DynamicVal, true
}

// unknown returns an object of a type that is not there yet. One with deprecated parts is made of
// unknown attributes, so that these can be marked.
func (c *checker) unknown(ty *resource.Type) cty.Value {
	if !ty.Block.HasDeprecated() {
		return cty.UnknownVal(ty.Object)
	}
	if known, ok := c.unknowns.Load(ty); ok {
		return known.(cty.Value)
	}
	attributes := map[string]cty.Value{}
	for name, of := range ty.Object.AttributeTypes() {
		attributes[name] = cty.UnknownVal(of)
	}
	object := c.Eval.Deprecate(cty.ObjectVal(attributes), ty.Block)
	c.unknowns.Store(ty, object)
	return object
}

// Module implements [eval.Checker].
func (c *checker) Module(ctx context.Context, m *eval.Module) {
	c.requirements(m)
	for _, meta := range m.Config.ProviderMeta {
		c.providerMeta(ctx, m, meta)
	}
	for _, removed := range m.Config.Removed {
		c.removed(ctx, m, removed)
	}
	c.imports(ctx, m)
	for name, call := range m.Config.Calls {
		if child := m.Config.Children[name]; child != nil {
			c.passed(m.Config, call, child)
		}
	}
}

// problem reports an error.
func (c *checker) problem(at hcl.Range, summary, detail string) {
	c.Eval.Diagnostics.AddTo(c.resource, failure.At(at, summary, "%s", detail))
}

// warn adds a warning.
func (c *checker) warn(at hcl.Range, summary, detail string) {
	c.Eval.Diagnostics.AddTo(c.resource, failure.WarningAt(at, summary, "%s", detail))
}

// decode evaluates a block of a module. It is false after errors.
func (c *checker) decode(ctx context.Context, m *eval.Module, decoder *body.Decoder, body hcl.Body, found []refs.Reference,
	at eval.Place,
) (cty.Value, bool) {
	scope, ok := m.Scope(ctx, found, at)
	if !ok {
		return cty.DynamicVal, false
	}
	value, diags := decoder.Decode(ctx, body, scope)
	value = m.Used(value, func(path cty.Path) hcl.Range { return *decoder.Range(body, path) })
	return value, c.Eval.Diagnostics.AddTo(at.Resource, diags...)
}
