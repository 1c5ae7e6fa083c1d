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

	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/diagnostics"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/expr"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/foreach"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/maintask"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/memo"
	"github.com/cairnstacks/cairn/stackruntime/stackconfig"
)

// moduleUse is the use of a module by a block, with the provider configurations
// it assigns to the module's slots. For embedding in the Config object of the block.
type moduleUse struct {
	stack     *StackConfig
	user      string // address of the block, for messages
	source    stackconfig.Source
	providers []stackconfig.ProviderAssignment
	forEach   hcl.Expression // nil when there is none
	place     hcl.Range      // of the block

	module memo.Memo[*engine.Module]
}

// checkModule reports mistakes in the module and its provider slots.
func (u *moduleUse) checkModule(ctx context.Context) hcl.Diagnostics {
	module, diags := u.module.Check(ctx, u.moduleAspect)
	if module == nil {
		return diags
	}
	slotDiags := u.checkSlots(ctx, module)
	diags = diags.Extend(slotDiags)
	if u.stack.main.phase == expr.ValidatePhase && !slotDiags.HasErrors() && !u.hasLockErrors(module) {
		diags = diags.Extend(u.stack.main.session.ValidateModule(maintask.StopContext(ctx), u.source.Dir))
	}
	return diags
}

// Module describes the component's module; nil when there is none to describe.
func (u *moduleUse) Module(ctx context.Context) *engine.Module {
	return u.module.Value(ctx, u.moduleAspect)
}

// isSound reports whether the module was read without errors: otherwise it may declare more than it
// seems to.
func (u *moduleUse) isSound(ctx context.Context) bool {
	_, diags := u.module.Check(ctx, u.moduleAspect)
	return !diags.HasErrors()
}

// hasLockErrors reports whether a provider of the module is reported as missing
// in the lock file elsewhere, so that the engine would only repeat that.
func (u *moduleUse) hasLockErrors(module *engine.Module) bool {
	for provider := range module.Requirements {
		if u.stack.checkLock(provider, nil).HasErrors() {
			return true
		}
	}
	return false
}

func (u *moduleUse) moduleAspect() memo.Aspect[*engine.Module] {
	return memo.Aspect[*engine.Module]{
		Name: u.user + " modules",
		Compute: func(ctx context.Context) (*engine.Module, hcl.Diagnostics) {
			if u.source.Dir == "" {
				return nil, nil // the loader has reported why
			}
			module, diags := u.stack.main.session.Module(maintask.StopContext(ctx), u.source.Dir)
			return module, diagnostics.PlacedAt(diags, u.source.Range)
		},
	}
}

// checkAssignments evaluates the provider assignments. Whether they fit the
// module is checked apart, because that is no matter of references.
func (u *moduleUse) checkAssignments(ctx context.Context, scope expr.EvaluationScope) hcl.Diagnostics {
	var diags hcl.Diagnostics
	for _, assignment := range u.providers {
		_, moreDiags := expr.EvalExpr(ctx, assignment.Value, expr.ValidatePhase, scope)
		diags = diags.Extend(moreDiags)
	}
	return diags
}

// checkSlots checks that each provider slot of the module is filled, with a
// configuration of the right provider.
func (u *moduleUse) checkSlots(ctx context.Context, module *engine.Module) hcl.Diagnostics {
	var diags hcl.Diagnostics
	slots := slices.SortedFunc(maps.Keys(module.Slots), compareSlots)
	for _, slot := range slots {
		provider := module.Slots[slot].Provider
		assignment, ok := u.assignment(slot)
		if !ok {
			diags = diags.Append(failure.At(u.place, "Provider slot not filled",
				"The module of %s takes a configuration named %q of provider %s. Assign one in the providers argument.", u.user, slot, provider))
			continue
		}
		diags = diags.Extend(u.checkSlotType(ctx, slot, module.Slots[slot], assignment))
	}
	return diags
}

func (u *moduleUse) assignment(slot engine.ProviderSlot) (stackconfig.ProviderAssignment, bool) {
	for _, assignment := range u.providers {
		if assignment.Slot == slot {
			return assignment, true
		}
	}
	return stackconfig.ProviderAssignment{}, false
}

func (u *moduleUse) checkSlotType(
	ctx context.Context, slot engine.ProviderSlot, declared *engine.Slot, assignment stackconfig.ProviderAssignment,
) hcl.Diagnostics {
	scope := expr.EvaluationScope(u.stack)
	if u.forEach != nil {
		scope = repetitionScope{u.stack, foreach.StaticRepetition}
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
			fmt.Sprintf("The slot %q takes a configuration of provider %s, but this is a %s. Refer to a provider block, as in provider.%s.NAME.",
				slot, declared.Provider, ty.FriendlyName(), slot.LocalName))}
	case assigned != declared.Provider:
		return hcl.Diagnostics{result.Diagnostic("Wrong provider for slot",
			fmt.Sprintf("The slot %q takes a configuration of provider %s, but this is one of %s. %s",
				slot, declared.Provider, assigned, u.slotHint(slot, declared)))}
	}
	return nil
}

// slotHint says how a wrong provider in a slot most likely came about.
func (u *moduleUse) slotHint(slot engine.ProviderSlot, declared *engine.Slot) string {
	requirements := u.stack.decl.RequiredProviders
	known := requirements.Of(declared.Provider)
	switch {
	case requirements.Named(slot.LocalName) != nil && !declared.Declared:
		return fmt.Sprintf("The module does not declare its provider, so %s is assumed from the name. "+
			"Add %q to required_providers in the module.", declared.Provider, slot.LocalName)
	case known != nil:
		return fmt.Sprintf("This stack calls that provider %q.", known.LocalName)
	default:
		return "Declare that provider in required_providers of this stack and assign a configuration of it."
	}
}

func compareSlots(a, b engine.ProviderSlot) int {
	return cmp.Or(cmp.Compare(a.LocalName, b.LocalName), cmp.Compare(a.Alias, b.Alias))
}
