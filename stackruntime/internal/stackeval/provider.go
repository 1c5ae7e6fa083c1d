// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackeval

import (
	"context"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/expr"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/foreach"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/memo"
	"github.com/cairnstacks/cairn/stackruntime/stackconfig"
)

// Provider is a provider configuration in one stack instance, before its
// for_each is applied.
type Provider struct {
	stack  *Stack
	addr   stackaddrs.AbsProviderConfig
	config *ProviderConfig

	instances[*ProviderInstance]
}

func newProvider(stack *Stack, config *ProviderConfig) *Provider {
	p := &Provider{
		stack:  stack,
		addr:   stackaddrs.AbsProviderConfig{Stack: stack.addr, Item: config.addr.Item},
		config: config,
	}
	p.instances = newInstances(stack, p.addr.String(), config.decl.ForEach, "provider", noKeys,
		func(key stackaddrs.InstanceKey, repetition foreach.Repetition) *ProviderInstance {
			return newProviderInstance(p, key, repetition)
		})
	return p
}

// ExprReferenceValue implements [expr.Referenceable]: a reference to the
// configuration, or a map of references.
func (p *Provider) ExprReferenceValue(ctx context.Context) cty.Value {
	return instancesValue(p.Instances(ctx), stackconfig.ProviderRefType(p.addr.Item.Provider), (*ProviderInstance).reference)
}

// ProviderInstance is one instance of a provider configuration.
type ProviderInstance struct {
	provider   *Provider
	addr       stackaddrs.AbsProviderConfigInstance
	repetition foreach.Repetition

	args memo.Memo[cty.Value]
}

func newProviderInstance(provider *Provider, key stackaddrs.InstanceKey, repetition foreach.Repetition) *ProviderInstance {
	return &ProviderInstance{
		provider: provider,
		addr: stackaddrs.AbsProviderConfigInstance{
			Stack: provider.stack.addr,
			Item:  stackaddrs.ProviderConfigInstance{Config: provider.addr.Item, Key: key},
		},
		repetition: repetition,
	}
}

func (p *ProviderInstance) reference() cty.Value { return stackconfig.ProviderRef(p.addr) }

// written returns the address with the name of the provider that the stack's files have for it, like
// provider.aws.main["eu"].
func (p *ProviderInstance) written() string {
	name := p.provider.config.decl.Ref.String() + p.addr.Item.Key.String()
	if stack := p.provider.stack.addr; !stack.IsRoot() {
		return stack.String() + "." + name
	}
	return name
}

// Args are the arguments of the configuration, in the shape of the provider's spec.
func (p *ProviderInstance) Args(ctx context.Context) cty.Value {
	return p.args.Value(ctx, p.argsAspect)
}

// CheckArgs reports what is wrong with the arguments.
func (p *ProviderInstance) CheckArgs(ctx context.Context) hcl.Diagnostics {
	_, diags := p.args.Check(ctx, p.argsAspect)
	return diags
}

func (p *ProviderInstance) argsAspect() memo.Aspect[cty.Value] {
	return memo.Aspect[cty.Value]{
		Name:        p.addr.String(),
		Placeholder: expr.Placeholder(cty.DynamicPseudoType),
		Compute: func(ctx context.Context) (cty.Value, hcl.Diagnostics) {
			stack := p.provider.stack
			return p.provider.config.evalArgs(ctx, stack.main.phase, repetitionScope{stack, p.repetition})
		},
	}
}
