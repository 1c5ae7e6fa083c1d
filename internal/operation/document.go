// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package operation

import (
	"context"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/document/terraformplan"
	"github.com/cairnstacks/cairn/internal/module"
	"github.com/cairnstacks/cairn/internal/operation/planfile"
	"github.com/cairnstacks/cairn/internal/providers/schema"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/stackconfig"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
	"github.com/cairnstacks/cairn/stackruntime/stackstate"
)

// TerraformPlans makes terraform's documents of the components of one plan. It is used by one
// goroutine at a time.
type TerraformPlans struct {
	plan    *stackplan.Plan
	prior   *stackstate.State
	config  *stackconfig.Config
	schemas map[stackaddrs.Provider]*schema.Provider
	modules *module.Files
	loaders map[engine.Info]*module.Loader
}

// NewTerraformPlans returns the maker of documents of a saved plan of a stack. The plan holds only
// the hashes of the configuration that it was made from, so that the files of the stack and of its
// modules must still be as they were; the schemas come from the providers, of which missing ones
// are installed.
func NewTerraformPlans(ctx context.Context, s *Stack, plan *stackplan.Plan, made stackplan.FileContext) (*TerraformPlans, hcl.Diagnostics) {
	of := s.forPlan(plan, made)
	config, found := of.sources.Config()
	if config == nil || found.HasErrors() {
		return nil, found
	}
	target := planfile.Target{Config: config, Modules: of.opts.Shared.engines.Modules()}
	if err := target.CheckFiles(plan, made); err != nil {
		return nil, Diagnostics(err)
	}
	diags := installProviders(ctx, of)
	if diags.HasErrors() {
		return nil, diags
	}
	schemas, moreDiags := of.Providers().Described(ctx)
	return &TerraformPlans{
		plan: plan, prior: of.states.Prior(ctx, made), config: config, schemas: schemas,
		modules: target.Modules, loaders: map[engine.Info]*module.Loader{},
	}, diags.Extend(moreDiags)
}

// Document returns the document of a component of the plan.
func (p *TerraformPlans) Document(c *stackplan.Component) (*terraformplan.Document, error) {
	source, assigned := p.block(c.Addr)
	made := terraformplan.Source{
		Plan: p.plan, Component: c, Prior: p.prior, Schemas: p.schemas, Providers: p.providers(c.Addr.Stack.Config(), assigned),
	}
	if source.Dir != "" {
		made.Tree, _ = p.loader(c.Engine).Load(source.Dir) //nolint:errcheck // its mistakes were reported when it was planned
	}
	return terraformplan.New(made)
}

// loader returns the loader that reads modules as an engine does.
func (p *TerraformPlans) loader(made engine.Info) *module.Loader {
	if made == (engine.Info{}) {
		made = p.plan.Engine
	}
	if p.loaders[made] == nil {
		options := module.OptionsOf(made, p.config.Root.Dir, p.config.Resolver).Of(p.config)
		options.Files = p.modules
		p.loaders[made] = module.NewLoader(options)
	}
	return p.loaders[made]
}

// block returns the source and the providers of the block that a component instance is from: a
// component block, or the removed block that has taken its place.
func (p *TerraformPlans) block(addr stackaddrs.AbsComponentInstance) (
	source stackconfig.Source, assigned []stackconfig.ProviderAssignment,
) {
	stack := addr.Stack.Config()
	if within := p.config.Descendant(stack); within != nil {
		if block := within.Components[addr.Item.Component.Name]; block != nil {
			return block.Source, block.Providers
		}
	}
	p.config.Walk(func(within *stackconfig.Stack) {
		for _, block := range within.Removed {
			if block.From == nil || block.From.Component == nil || block.From.Component.Name != addr.Item.Component.Name {
				continue
			}
			target := within.Addr
			for _, step := range block.From.Stacks {
				target = target.Child(step.Name)
			}
			if target == stack {
				source, assigned = block.Source, block.Providers
			}
		}
	})
	return source, assigned
}

// providers returns the bodies of the provider configurations that a block passes to its module, as
// far as its stack has them: those that a caller passes to the stack are values of variables.
func (p *TerraformPlans) providers(stack stackaddrs.Stack, assigned []stackconfig.ProviderAssignment) map[engine.ProviderSlot]hcl.Body {
	bodies := map[engine.ProviderSlot]hcl.Body{}
	within := p.config.Descendant(stack)
	if within == nil {
		return bodies
	}
	for _, one := range assigned {
		for _, traversal := range one.Value.Variables() {
			found, _, diags := stackaddrs.ParseReference(traversal)
			ref, ok := found.Target.(stackaddrs.ProviderConfigRef)
			if diags.HasErrors() || !ok {
				continue
			}
			if block := within.Providers[ref]; block != nil {
				bodies[one.Slot] = block.Config
			}
		}
	}
	return bodies
}
