// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackeval

import (
	"context"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hcldec"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/bounds"
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/diagnostics"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/expr"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/foreach"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/maintask"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/memo"
	"github.com/cairnstacks/cairn/stackruntime/marks"
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

// written returns the address with the name of the provider that the stack's files have for it,
// like provider.aws.main["eu"].
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

// Check implements [Checkable]: it reports mistakes in the arguments.
func (p *ProviderInstance) Check(ctx context.Context) hcl.Diagnostics {
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

// ProviderConfig is a provider block.
type ProviderConfig struct {
	stack *StackConfig
	addr  stackaddrs.ConfigProviderConfig
	decl  *stackconfig.ProviderConfig

	spec memo.Memo[hcldec.Spec]
	args memo.Memo[cty.Value]
}

func newProviderConfig(stack *StackConfig, decl *stackconfig.ProviderConfig) *ProviderConfig {
	return &ProviderConfig{
		stack: stack,
		addr: stackaddrs.ConfigProviderConfig{
			Stack: stack.addr,
			Item:  stackaddrs.ProviderConfig{Provider: decl.Provider, Name: decl.Ref.Name},
		},
		decl: decl,
	}
}

// ExprReferenceValue implements [expr.Referenceable].
//
// The reference itself is not known before there are instances. Asking for it
// evaluates the arguments all the same, to find cycles through them.
func (p *ProviderConfig) ExprReferenceValue(ctx context.Context) cty.Value {
	p.args.Value(ctx, p.argsAspect)
	ty := stackconfig.ProviderRefType(p.decl.Provider)
	if p.decl.ForEach != nil {
		ty = cty.Map(ty)
	}
	return cty.UnknownVal(ty)
}

// Validate reports the mistakes that any instance would have.
func (p *ProviderConfig) Validate(ctx context.Context) hcl.Diagnostics {
	diags := p.stack.checkLock(p.decl.Provider, p.decl.Range.Ptr())
	if diags.HasErrors() { // its schema cannot be had either
		_, moreDiags := p.args.Check(ctx, p.argsAspect)
		return diags.Extend(moreDiags)
	}
	_, moreDiags := p.spec.Check(ctx, p.specAspect)
	diags = diags.Extend(moreDiags)
	_, moreDiags = p.args.Check(ctx, p.argsAspect)
	if diags = diags.Extend(moreDiags); diags.HasErrors() {
		return diags
	}
	return diags.Extend(p.ask(ctx))
}

// ask has the provider check the arguments, as far as they are known.
func (p *ProviderConfig) ask(ctx context.Context) hcl.Diagnostics {
	validator := p.stack.main.session.Abilities().Configs
	if validator == nil || p.Spec(ctx) == nil {
		return nil
	}
	said := validator.ValidateProviderConfig(maintask.StopContext(ctx), p.decl.Provider, p.args.Value(ctx, p.argsAspect))
	for _, diag := range said {
		var path cty.Path
		if data, ok := hcl.DiagnosticExtra[*engine.DiagnosticData](diag); ok && data.Provider != nil {
			path = data.Provider.Path
		}
		diag.Subject = p.placeOf(ctx, path).Ptr()
		diag.Extra = diagnostics.AboutProvider(p.written())
	}
	return said
}

// written returns the address as the files of the stack have it.
func (p *ProviderConfig) written() string {
	if p.stack.addr.IsRoot() {
		return p.decl.Ref.String()
	}
	return p.stack.addr.String() + "." + p.decl.Ref.String()
}

// Spec is how the config block is decoded; nil when that could not be found out.
func (p *ProviderConfig) Spec(ctx context.Context) hcldec.Spec {
	return p.spec.Value(ctx, p.specAspect)
}

func (p *ProviderConfig) specAspect() memo.Aspect[hcldec.Spec] {
	return memo.Aspect[hcldec.Spec]{
		Name: p.addr.String() + " schema",
		Compute: func(ctx context.Context) (hcldec.Spec, hcl.Diagnostics) {
			schema, diags := p.stack.main.session.ProviderSchema(maintask.StopContext(ctx), p.decl.Provider)
			diags = diagnostics.PlacedAt(diags, p.decl.Range)
			if schema == nil {
				return nil, diags
			}
			return schema.Config.Spec(), diags
		},
	}
}

func (p *ProviderConfig) argsAspect() memo.Aspect[cty.Value] {
	return memo.Aspect[cty.Value]{
		Name:        p.addr.String(),
		Placeholder: expr.Placeholder(cty.DynamicPseudoType),
		Compute: func(ctx context.Context) (cty.Value, hcl.Diagnostics) {
			scope, diags := staticInstanceScope(ctx, p.stack, p.decl.ForEach, "provider")
			value, moreDiags := p.evalArgs(ctx, expr.ValidatePhase, scope)
			return value, diags.Extend(moreDiags)
		},
	}
}

// evalArgs evaluates the config block in the scope of an instance.
//
// Shape: that of the provider's spec. Unknown: whole or in part. Marks: kept.
func (p *ProviderConfig) evalArgs(ctx context.Context, phase expr.EvalPhase, scope expr.EvaluationScope) (cty.Value, hcl.Diagnostics) {
	spec := p.Spec(ctx)
	if spec == nil {
		var diags hcl.Diagnostics
		if phase == expr.ValidatePhase { // as far as that is possible without the schema
			for _, e := range p.decl.Expressions() {
				_, moreDiags := expr.EvalExpr(ctx, e, phase, scopeWithoutProviders{scope, "The arguments of a provider"})
				diags = diags.Extend(moreDiags)
			}
		}
		return expr.Placeholder(cty.DynamicPseudoType), diags
	}
	value, diags := expr.EvalBody(ctx, p.decl.Config, spec, phase, scopeWithoutProviders{scope, "The arguments of a provider"})
	if err := bounds.CheckFinite(value); err != nil && !diags.HasErrors() {
		diags = diags.Append(failure.At(p.decl.Range, "Unsuitable provider argument",
			"The configuration of %s cannot be used: %s.", p.addr, marks.DescribeError(value, err)))
	}
	return value, diagnostics.PlacedAt(diags, p.decl.Range) // without a config block there is no place in it
}

// staticInstanceScope checks a for_each argument as far as that is possible
// without values, and returns the scope for arguments of any instance.
func staticInstanceScope(
	ctx context.Context, stack *StackConfig, forEach hcl.Expression, what string,
) (expr.EvaluationScope, hcl.Diagnostics) {
	if forEach == nil {
		return stack, nil
	}
	_, diags := staticForEach(ctx, stack, forEach, what)
	return repetitionScope{stack, foreach.StaticRepetition}, diags
}

// staticForEach is the part of a for_each argument that is known without values.
func staticForEach(ctx context.Context, stack *StackConfig, forEach hcl.Expression, what string) (foreach.Set, hcl.Diagnostics) {
	result, diags := expr.EvalExprAndEvalContext(ctx, forEach, expr.ValidatePhase, stack)
	if diags.HasErrors() {
		return foreach.FailedSet, diags
	}
	set, moreDiags := foreach.FromValue(result, what)
	diags = diags.Extend(moreDiags)
	if moreDiags.HasErrors() {
		set = foreach.FailedSet
	}
	return set, diags
}

// placeOf returns where a part of the configuration is written, or the closest around it that is.
func (p *ProviderConfig) placeOf(ctx context.Context, path cty.Path) hcl.Range {
	if spec := p.Spec(ctx); spec != nil {
		if place, ok := diagnostics.PlaceInBody(p.decl.Config, spec, path); ok {
			return place
		}
	}
	return p.decl.Range
}
