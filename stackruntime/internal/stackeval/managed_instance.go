// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackeval

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/fault"
	"github.com/cairnstacks/cairn/stackruntime/hooks"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/components"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/diagnostics"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/expr"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/memo"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/planning"
	"github.com/cairnstacks/cairn/stackruntime/stackconfig"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
	"github.com/cairnstacks/cairn/stackruntime/stackstate"
	"github.com/cairnstacks/cairn/stackruntime/tfstate"
)

// managedInstance is the engine's object of work: a component instance in the state, driven by a
// component block or by a removed block. For embedding.
type managedInstance struct {
	main  *Main
	addr  stackaddrs.AbsComponentInstance
	use   *moduleUse
	scope expr.EvaluationScope // of the block's arguments

	providers memo.Memo[map[engine.ProviderSlot]engine.ProviderConfig]
	announced atomic.Bool // that planning has begun: some are planned twice
}

// prior is the instance in the state before the operation; nil when it is not there.
func (i *managedInstance) prior() *stackstate.Component {
	return i.main.prior().Components[i.addr]
}

// priorModule is the module state before the operation.
func (i *managedInstance) priorModule() engine.State {
	if prior := i.prior(); prior != nil {
		return prior.Module
	}
	return nil
}

func (i *managedInstance) setStatus(status hooks.Status) {
	if hook := i.main.hooks.ComponentStatus; hook != nil {
		hook(i.addr, status)
	}
}

// show passes on progress of the engine.
func (i *managedInstance) show(event engine.Event) {
	if hook := i.main.hooks.ComponentEvent; hook != nil {
		hook(i.addr, event)
	}
}

// StoredInputs are the inputs as plan and state may keep them.
func (i *managedInstance) StoredInputs(ctx context.Context, inputs map[string]cty.Value) map[string]cty.Value {
	module := i.use.Module(ctx)
	stored := make(map[string]cty.Value, len(inputs))
	for name, value := range inputs {
		if v := module.Variables[name]; v != nil && v.Ephemeral {
			value = cty.NullVal(v.Type.WithoutOptionalAttributesDeep())
		}
		stored[name] = expr.WithoutFailed(value)
	}
	return stored
}

func (i *managedInstance) providersAspect() memo.Aspect[map[engine.ProviderSlot]engine.ProviderConfig] {
	return memo.Aspect[map[engine.ProviderSlot]engine.ProviderConfig]{
		Name: i.addr.String() + " providers",
		Compute: func(ctx context.Context) (map[engine.ProviderSlot]engine.ProviderConfig, hcl.Diagnostics) {
			var diags hcl.Diagnostics
			configs := make(map[engine.ProviderSlot]engine.ProviderConfig)
			module := i.use.Module(ctx)
			if module == nil {
				return configs, nil
			}
			for _, assignment := range i.use.providers {
				config, moreDiags := i.providerFor(ctx, module.Slots[assignment.Slot], assignment)
				diags = diags.Extend(moreDiags)
				configs[assignment.Slot] = config
			}
			return configs, diags.Extend(i.checkStateProviders(configs))
		},
	}
}

// checkStateProviders checks that all that the state's objects need to be read
// and destroyed is assigned, even if the module has no use for it any more.
func (i *managedInstance) checkStateProviders(configs map[engine.ProviderSlot]engine.ProviderConfig) hcl.Diagnostics {
	var needed []tfstate.ProviderConfig
	prior, err := tfstate.Parse(i.priorModule())
	if err == nil {
		needed, err = prior.ProviderConfigs()
	}
	if err != nil {
		return hcl.Diagnostics{failure.With(fault.Address{Component: i.addr}, failure.New("Unreadable component state",
			"The state of %s cannot be read: %s.", i.addr, err))}
	}
	var diags hcl.Diagnostics
	for _, need := range needed {
		if need.Provider == stackaddrs.BuiltinProvider.String() || isAssigned(need, configs) {
			continue
		}
		slot := "a slot"
		if need.Alias != "" {
			slot = fmt.Sprintf("the slot with the alias %q", need.Alias)
		}
		diags = diags.Append(failure.With(fault.Address{Component: i.addr}, failure.At(i.use.place,
			"Provider needed by existing resources not assigned",
			"Resources of %s in the state were made with provider %s. Assign a configuration of it to %s in the providers argument, at least "+
				"until they are destroyed.", i.addr, need.Provider, slot)))
	}
	return diags
}

func isAssigned(need tfstate.ProviderConfig, configs map[engine.ProviderSlot]engine.ProviderConfig) bool {
	for slot, config := range configs {
		mayBe := config.Unknown && config.Provider == stackaddrs.Provider{} // not even the provider is known
		if slot.Alias == need.Alias && (mayBe || need.IsOf(config.Provider)) {
			return true
		}
	}
	return false
}

// providerFor finds the provider configuration assigned to a slot. declared is
// nil for a slot that the module does not have.
func (i *managedInstance) providerFor(
	ctx context.Context, declared *engine.Slot, assignment stackconfig.ProviderAssignment,
) (engine.ProviderConfig, hcl.Diagnostics) {
	config := engine.ProviderConfig{Config: expr.Placeholder(cty.DynamicPseudoType)}
	if declared != nil {
		config.Provider = declared.Provider
	}
	result, diags := expr.EvalExprAndEvalContext(ctx, assignment.Value, i.main.phase, i.scope)
	if diags.HasErrors() {
		return config, diags
	}
	ref, _ := result.Value.Unmark()
	provider, isRef := stackconfig.ProviderOfRefType(ref.Type())
	mayBeRef := isRef || (ref.Type() == cty.DynamicPseudoType && !ref.IsKnown())
	switch {
	case expr.IsFailed(result.Value):
		return config, nil
	case !mayBeRef:
		return config, hcl.Diagnostics{result.Diagnostic("Wrong provider for slot",
			fmt.Sprintf("The slot %q takes a provider configuration, but this is a %s.", assignment.Slot, ref.Type().FriendlyName()))}
	case isRef && declared != nil && provider != declared.Provider:
		return config, hcl.Diagnostics{result.Diagnostic("Wrong provider for slot",
			fmt.Sprintf("The slot %q takes a configuration of provider %s, but this is a %s.",
				assignment.Slot, declared.Provider, ref.Type().FriendlyName()))}
	case !ref.IsKnown():
		config.Config, config.Unknown = cty.DynamicVal, true
		if isRef {
			config.Provider = provider
		}
		return config, nil
	case ref.IsNull():
		return config, hcl.Diagnostics{result.Diagnostic("Provider slot got null",
			fmt.Sprintf("The slot %q takes a provider configuration, which cannot be null.", assignment.Slot))}
	}
	config.Provider = provider
	inst := i.main.providerInstance(ctx, stackconfig.ProviderRefTarget(ref))
	if inst == nil {
		return config, hcl.Diagnostics{diagnostics.Bug("Unknown provider configuration",
			"The reference in slot %q leads nowhere.", assignment.Slot)}
	}
	config.Instance, config.Config = inst.addr, inst.Args(ctx)
	return config, nil
}

func failedProviders(configs map[engine.ProviderSlot]engine.ProviderConfig) bool {
	for _, config := range configs {
		if expr.IsFailed(config.Config) {
			return true
		}
	}
	return false
}

// runPlan has the engine plan. The result is nil if that was not begun because the operation shall
// stop. Of a kind of work that nobody has asked for, nothing is shown.
func (i *managedInstance) runPlan(ctx context.Context, kind hooks.WorkKind, req *engine.PlanRequest) (*engine.PlanResult, hcl.Diagnostics) {
	var result *engine.PlanResult
	var diags hcl.Diagnostics
	piece := i.main.works.Piece(kind, i.addr)
	req.Work = piece.ID
	began := i.main.works.Run(ctx, piece, func(ctx context.Context, began func() bool) hcl.Diagnostics {
		result, diags = i.main.session.Plan(ctx, req, func(event engine.Event) {
			switch {
			case event.Type == engine.WorkBegan:
				if began() && kind != hooks.WorkAgain && !i.announced.Swap(true) {
					i.setStatus(hooks.Planning)
				}
			case kind == hooks.WorkPlan:
				i.show(event)
			}
		})
		return diags
	})
	if !began {
		return nil, nil // reported once, for the whole operation
	}
	return result, i.EngineDiagnostics(ctx, diags)
}

// planned is the instance with the inputs of its plan.
func (i *managedInstance) planned(ctx context.Context, req *engine.PlanRequest, requires components.Set) planning.Instance {
	return planning.Instance{
		Addr: i.addr, Source: i.use.source.Written, Requires: requires.Sorted(), Inputs: i.StoredInputs(ctx, req.Inputs), Prior: i.prior(),
	}
}

// finishPlan reports to the hooks how planning ended, and that it began where no engine did that.
func (i *managedInstance) finishPlan(plan *stackplan.Component) {
	if !i.announced.Swap(true) {
		i.setStatus(hooks.Planning)
	}
	if hook := i.main.hooks.ComponentPlanned; hook != nil {
		hook(plan)
	}
	if plan.Complete {
		i.setStatus(hooks.Planned)
	} else {
		i.setStatus(hooks.Deferred)
	}
}

// planForget plans to drop the instance from the state.
func (i *managedInstance) planForget(
	ctx context.Context, req *engine.PlanRequest, requires components.Set,
) (*stackplan.Component, hcl.Diagnostics) {
	result, err := planning.Forget(req)
	if err != nil {
		i.setStatus(hooks.Failed)
		return nil, hcl.Diagnostics{failure.With(fault.Address{Component: i.addr}, failure.New("Unreadable component state",
			"The state of %s cannot be read: %s.", i.addr, err))}
	}
	plan := i.planned(ctx, req, requires).NewComponent(req, result)
	plan.Action = stackplan.Forget
	if prior := i.prior(); prior != nil {
		plan.Outputs = prior.Outputs
	}
	i.finishPlan(plan)
	if len(result.Changes) == 0 {
		return plan, nil
	}
	var names strings.Builder
	for _, change := range result.Changes {
		fmt.Fprintf(&names, "\n  - %s", change.Addr)
	}
	return plan, hcl.Diagnostics{failure.With(fault.Address{Component: i.addr}, failure.WarningAt(i.use.place, "Resources no longer managed",
		"These resources of %s continue to exist, but nothing will manage them any more:%s", i.addr, &names))}
}

// EngineDiagnostics places diagnostics of an engine about a component instance: in the component,
// or where the provider configuration concerned is written.
func (i *managedInstance) EngineDiagnostics(ctx context.Context, diags hcl.Diagnostics) hcl.Diagnostics {
	placed := diagnostics.About(diags, i.addr)
	for _, diag := range placed {
		data, ok := hcl.DiagnosticExtra[*engine.DiagnosticData](diag)
		if !ok || data.Provider == nil {
			continue
		}
		if inst := i.providerIn(ctx, data.Provider.Slot); inst != nil {
			config := inst.provider.config
			diag.Subject = config.placeOf(ctx, data.Provider.Path).Ptr()
			diag.Extra = diagnostics.AboutProvider(inst.written(), i.addr)
		}
	}
	if hook := i.main.hooks.ComponentDiagnostics; hook != nil && len(placed) > 0 {
		hook(i.addr, placed)
	}
	return placed
}

// providerIn returns the configuration in a slot, nil if that is not known.
func (i *managedInstance) providerIn(ctx context.Context, slot engine.ProviderSlot) *ProviderInstance {
	at := slices.IndexFunc(i.use.providers, func(assigned stackconfig.ProviderAssignment) bool { return assigned.Slot == slot })
	if at < 0 {
		return nil
	}
	result, diags := expr.EvalExprAndEvalContext(ctx, i.use.providers[at].Value, i.main.phase, i.scope)
	ref, _ := result.Value.Unmark()
	if _, isRef := stackconfig.ProviderOfRefType(ref.Type()); !isRef || diags.HasErrors() || !ref.IsKnown() || ref.IsNull() {
		return nil
	}
	return i.main.providerInstance(ctx, stackconfig.ProviderRefTarget(ref))
}
