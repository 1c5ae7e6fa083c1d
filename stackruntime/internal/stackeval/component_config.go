// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackeval

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/expr"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/foreach"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/memo"
	"github.com/cairnstacks/cairn/stackruntime/stackconfig"
)

// ComponentConfig is a component block.
type ComponentConfig struct {
	stack *StackConfig
	addr  stackaddrs.ConfigComponent
	decl  *stackconfig.Component

	module memo.Memo[*engine.Module]
	checks memo.Memo[struct{}]
}

func newComponentConfig(stack *StackConfig, decl *stackconfig.Component) *ComponentConfig {
	return &ComponentConfig{
		stack: stack,
		addr:  stackaddrs.ConfigComponent{Stack: stack.addr, Item: stackaddrs.Component{Name: decl.Name}},
		decl:  decl,
	}
}

// ExprReferenceValue implements [expr.Referenceable].
//
// Results of components are not known before planning. Asking for one checks
// the component all the same, to find circles.
func (c *ComponentConfig) ExprReferenceValue(ctx context.Context, _ expr.EvalPhase) cty.Value {
	c.checks.Value(ctx, c.checksAspect)
	return cty.DynamicVal
}

// Module describes the component's module; nil when there is none to describe.
func (c *ComponentConfig) Module(ctx context.Context) *engine.Module {
	return c.module.Value(ctx, c.moduleAspect)
}

// Validate reports what is wrong in any instance.
func (c *ComponentConfig) Validate(ctx context.Context) hcl.Diagnostics {
	module, diags := c.module.Check(ctx, c.moduleAspect)
	_, moreDiags := c.checks.Check(ctx, c.checksAspect)
	diags = diags.Extend(moreDiags)
	if module == nil {
		return diags
	}
	slotDiags := c.checkSlots(ctx, module)
	diags = diags.Extend(slotDiags)
	if c.stack.main.phase == expr.ValidatePhase && !slotDiags.HasErrors() && !c.hasLockErrors(module) {
		diags = diags.Extend(c.stack.main.engine.ValidateModule(stopContext(ctx), c.decl.Source.Dir))
	}
	return diags
}

// hasLockErrors tells whether a provider of the module is reported as missing
// in the lock file elsewhere, so that the engine would only repeat that.
func (c *ComponentConfig) hasLockErrors(module *engine.Module) bool {
	for provider := range module.Requirements {
		if c.stack.checkLock(provider, nil).HasErrors() {
			return true
		}
	}
	return false
}

func (c *ComponentConfig) moduleAspect() memo.Aspect[*engine.Module] {
	return memo.Aspect[*engine.Module]{
		Name: c.addr.String() + " modules",
		Compute: func(ctx context.Context) (*engine.Module, hcl.Diagnostics) {
			if c.decl.Source.Dir == "" {
				return nil, nil // the loader has reported why
			}
			module, diags := c.stack.main.engine.Module(stopContext(ctx), c.decl.Source.Dir)
			return module, placedAt(diags, c.decl.Source.Range)
		},
	}
}

// placedAt gives diagnostics that name no place a usable one. Diagnostics of the
// engine may be shared between components, so they are copied.
func placedAt(diags hcl.Diagnostics, place hcl.Range) hcl.Diagnostics {
	var placed hcl.Diagnostics
	for _, diag := range diags {
		if diag.Subject == nil {
			here := *diag
			here.Subject = &place
			diag = &here
		}
		placed = append(placed, diag)
	}
	return placed
}

// checksAspect evaluates everything that can refer to other objects.
func (c *ComponentConfig) checksAspect() memo.Aspect[struct{}] {
	return memo.Aspect[struct{}]{
		Name: c.addr.String(),
		Compute: func(ctx context.Context) (struct{}, hcl.Diagnostics) {
			scope, diags := staticInstanceScope(ctx, c.stack, c.decl.ForEach, "component")
			diags = diags.Extend(c.checkInputs(ctx, scope))
			diags = diags.Extend(c.checkAssignments(ctx, scope))
			diags = diags.Extend(c.stack.checkDependsOn(c.decl.DependsOn))
			c.visitDependsOn(ctx)
			return struct{}{}, diags
		},
	}
}

func (c *ComponentConfig) checkInputs(ctx context.Context, scope expr.EvaluationScope) hcl.Diagnostics {
	module := c.Module(ctx)
	_, diags := c.evalInputs(ctx, module, expr.ValidatePhase, scope)
	if module != nil && c.decl.Inputs != nil {
		diags = diags.Extend(moduleInputs(module).undeclaredInputs(c.decl.Inputs))
	}
	return diags
}

// evalInputs evaluates the inputs argument in the scope of an instance.
//
// Shape: an attribute for each variable of the module, of its type. Null: what
// the module has no default for. Marks: kept.
func (c *ComponentConfig) evalInputs(ctx context.Context, module *engine.Module, phase expr.EvalPhase, scope expr.EvaluationScope) (map[string]cty.Value, hcl.Diagnostics) {
	if module == nil {
		if c.decl.Inputs == nil {
			return nil, nil
		}
		_, diags := expr.EvalExpr(ctx, c.decl.Inputs, phase, scope)
		return nil, diags
	}
	set := moduleInputs(module)
	if c.decl.Inputs == nil {
		return set.withoutArgument(c.decl.Range)
	}
	result, diags := expr.EvalExprAndEvalContext(ctx, c.decl.Inputs, phase, scope)
	if diags.HasErrors() {
		return set.placeholders(), diags
	}
	values, moreDiags := set.fromArgument(result)
	return values, diags.Extend(moreDiags)
}

// checkAssignments evaluates the provider assignments. Whether they fit the
// module is checked apart, because that is no matter of references.
func (c *ComponentConfig) checkAssignments(ctx context.Context, scope expr.EvaluationScope) hcl.Diagnostics {
	var diags hcl.Diagnostics
	for _, assignment := range c.decl.Providers {
		_, moreDiags := expr.EvalExpr(ctx, assignment.Value, expr.ValidatePhase, scope)
		diags = diags.Extend(moreDiags)
	}
	return diags
}

// visitDependsOn evaluates what depends_on names, to find circles.
func (c *ComponentConfig) visitDependsOn(ctx context.Context) {
	for _, ref := range expr.References(c.decl.DependsOn) {
		if object := c.stack.lookUp(ref.Target); object != nil && c.stack.canDependOn(ref.Target) {
			object.ExprReferenceValue(ctx, expr.ValidatePhase)
		}
	}
}

// checkSlots checks that each provider slot of the module is filled, with a
// configuration of the right provider.
func (c *ComponentConfig) checkSlots(ctx context.Context, module *engine.Module) hcl.Diagnostics {
	var diags hcl.Diagnostics
	slots := slices.SortedFunc(maps.Keys(module.Slots), compareSlots)
	for _, slot := range slots {
		provider := module.Slots[slot].Provider
		if provider.IsBuiltin() {
			continue
		}
		assignment, ok := c.assignment(slot)
		if !ok {
			diags = diags.Append(&hcl.Diagnostic{
				Severity: hcl.DiagError,
				Summary:  "Provider slot not filled",
				Detail:   fmt.Sprintf("The module of %s takes a configuration named %q of provider %s. Assign one in the providers argument.", c.addr, slot, provider),
				Subject:  c.decl.Range.Ptr(),
			})
			continue
		}
		diags = diags.Extend(c.checkSlotType(ctx, slot, module.Slots[slot], assignment))
	}
	return diags
}

func (c *ComponentConfig) assignment(slot engine.ProviderSlot) (stackconfig.ProviderAssignment, bool) {
	for _, assignment := range c.decl.Providers {
		if assignment.Slot == slot {
			return assignment, true
		}
	}
	return stackconfig.ProviderAssignment{}, false
}

func (c *ComponentConfig) checkSlotType(ctx context.Context, slot engine.ProviderSlot, declared *engine.Slot, assignment stackconfig.ProviderAssignment) hcl.Diagnostics {
	scope := expr.EvaluationScope(c.stack)
	if c.decl.ForEach != nil {
		scope = repetitionScope{c.stack, foreach.StaticRepetition}
	}
	result, diags := expr.EvalExprAndEvalContext(ctx, assignment.Value, expr.ValidatePhase, scope)
	if diags.HasErrors() {
		return nil // reported with the other references
	}
	ty := result.Value.Type()
	if ty == cty.DynamicPseudoType {
		return nil // not known before planning
	}
	assigned, ok := stackconfig.ProviderOfRefType(ty)
	switch {
	case !ok:
		return hcl.Diagnostics{result.Diagnostic("Wrong provider for slot",
			fmt.Sprintf("The slot %q takes a configuration of provider %s, but this is a %s. Refer to a provider block, as in provider.%s.NAME.", slot, declared.Provider, ty.FriendlyName(), slot.LocalName))}
	case assigned != declared.Provider:
		return hcl.Diagnostics{result.Diagnostic("Wrong provider for slot",
			fmt.Sprintf("The slot %q takes a configuration of provider %s, but this is one of %s. %s", slot, declared.Provider, assigned, c.slotHint(slot, declared)))}
	}
	return nil
}

// slotHint says how a wrong provider in a slot most likely came about.
func (c *ComponentConfig) slotHint(slot engine.ProviderSlot, declared *engine.Slot) string {
	name, known := c.stack.localNameOf(declared.Provider)
	var nameTaken bool
	if reqs := c.stack.decl.RequiredProviders; reqs != nil {
		_, nameTaken = reqs.Providers[slot.LocalName]
	}
	switch {
	case nameTaken && !declared.Declared:
		return fmt.Sprintf("The module does not declare its provider, so %s is assumed from the name. Add %q to required_providers in the module.", declared.Provider, slot.LocalName)
	case known:
		return fmt.Sprintf("This stack calls that provider %q.", name)
	default:
		return "Declare that provider in required_providers of this stack and assign a configuration of it."
	}
}

func compareSlots(a, b engine.ProviderSlot) int {
	return cmp.Or(cmp.Compare(a.LocalName, b.LocalName), cmp.Compare(a.Alias, b.Alias))
}
