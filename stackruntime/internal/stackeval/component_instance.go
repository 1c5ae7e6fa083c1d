// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackeval

import (
	"context"
	"fmt"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/hooks"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/expr"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/foreach"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/memo"
	"github.com/cairnstacks/cairn/stackruntime/marks"
	"github.com/cairnstacks/cairn/stackruntime/stackconfig"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
	"github.com/cairnstacks/cairn/stackruntime/stackstate"
)

// ComponentInstance is one instance of a component: the thing that is planned
// and applied.
type ComponentInstance struct {
	component  *Component
	addr       stackaddrs.AbsComponentInstance
	repetition foreach.Repetition

	inputs    memo.Memo[map[string]cty.Value]
	providers memo.Memo[map[engine.ProviderSlot]engine.ProviderConfig]
	plan      memo.Memo[*stackplan.Component]
	refresh   memo.Memo[*engine.PlanResult] // the hidden plan of a destroy
}

func newComponentInstance(component *Component, key stackaddrs.InstanceKey, repetition foreach.Repetition) *ComponentInstance {
	return &ComponentInstance{
		component:  component,
		addr:       stackaddrs.InstanceOf(component.addr, key),
		repetition: repetition,
	}
}

func (c *ComponentInstance) main() *Main { return c.component.stack.main }

func (c *ComponentInstance) scope() expr.EvaluationScope {
	return repetitionScope{c.component.stack, c.repetition}
}

// prior is what the state before the operation knows; nil when it knows nothing.
func (c *ComponentInstance) prior() *stackstate.Component {
	return c.main().prior().Components[c.addr]
}

// priorModule is the module state before the operation.
func (c *ComponentInstance) priorModule() engine.State {
	if prior := c.prior(); prior != nil {
		return prior.Module
	}
	return nil
}

func (c *ComponentInstance) setStatus(status hooks.Status) {
	if hook := c.main().hooks.ComponentStatus; hook != nil {
		hook(c.addr, status)
	}
}

// progress is where the engine's events go; nil when nobody listens.
func (c *ComponentInstance) progress() func(engine.Event) {
	hook := c.main().hooks.ComponentEvent
	if hook == nil {
		return nil
	}
	return func(event engine.Event) { hook(c.addr, event) }
}

// ResultValue is what expressions see of the instance.
//
// Shape: an object with all declared outputs of the module. Unknown: in part
// while planning, and where applying failed. A placeholder if the instance
// could not be planned.
func (c *ComponentInstance) ResultValue(ctx context.Context) cty.Value {
	module := c.component.module(ctx)
	if module == nil {
		return expr.Placeholder(cty.DynamicPseudoType)
	}
	outputs, ok := c.outputs(ctx)
	if !ok {
		return expr.Placeholder(cty.DynamicPseudoType)
	}
	attrs := make(map[string]cty.Value, len(module.Outputs))
	for name, declared := range module.Outputs {
		value, ok := outputs[name]
		if !ok {
			value = cty.DynamicVal
		}
		if declared.Sensitive {
			value = value.Mark(marks.Sensitive)
		}
		attrs[name] = value
	}
	return cty.ObjectVal(attrs)
}

// outputs are the results in this phase; ok is false when there are none
// because of an error reported elsewhere.
func (c *ComponentInstance) outputs(ctx context.Context) (outputs map[string]cty.Value, ok bool) {
	main := c.main()
	switch {
	case main.planning != nil && main.destroying():
		// Not the plan's: it depends on those who ask here (rule V4 of destroy order).
		return c.refreshedOutputs(ctx)
	case main.planning != nil:
		plan := c.Plan(ctx)
		if plan == nil {
			return nil, false
		}
		return plan.Outputs, true
	case main.applying != nil:
		return c.appliedOutputs(ctx), true
	default:
		if prior := c.prior(); prior != nil {
			return prior.Outputs, true
		}
		return nil, true
	}
}

// Inputs are the values of the module's variables.
func (c *ComponentInstance) Inputs(ctx context.Context) map[string]cty.Value {
	return c.inputs.Value(ctx, c.inputsAspect)
}

func (c *ComponentInstance) inputsAspect() memo.Aspect[map[string]cty.Value] {
	return memo.Aspect[map[string]cty.Value]{
		Name: c.addr.String() + " inputs",
		Compute: func(ctx context.Context) (map[string]cty.Value, hcl.Diagnostics) {
			return c.component.config.evalInputs(ctx, c.component.module(ctx), c.main().phase, c.scope())
		},
	}
}

// failedInputs tells whether an input could not be computed, for a reason that is
// reported elsewhere.
func failedInputs(inputs map[string]cty.Value) bool {
	for _, value := range inputs {
		if expr.IsFailed(value) {
			return true
		}
	}
	return false
}

// storedInputs are the inputs as plan and state may keep them.
func (c *ComponentInstance) storedInputs(ctx context.Context, inputs map[string]cty.Value) map[string]cty.Value {
	module := c.component.module(ctx)
	stored := make(map[string]cty.Value, len(inputs))
	for name, value := range inputs {
		if v := module.Variables[name]; v != nil && v.Ephemeral {
			value = cty.NullVal(v.Type.WithoutOptionalAttributesDeep())
		}
		stored[name] = withoutFailed(value)
	}
	return stored
}

func (c *ComponentInstance) providersAspect() memo.Aspect[map[engine.ProviderSlot]engine.ProviderConfig] {
	return memo.Aspect[map[engine.ProviderSlot]engine.ProviderConfig]{
		Name: c.addr.String() + " providers",
		Compute: func(ctx context.Context) (map[engine.ProviderSlot]engine.ProviderConfig, hcl.Diagnostics) {
			var diags hcl.Diagnostics
			configs := make(map[engine.ProviderSlot]engine.ProviderConfig)
			module := c.component.module(ctx)
			if module == nil {
				return configs, nil
			}
			for _, assignment := range c.component.config.decl.Providers {
				config, moreDiags := c.providerFor(ctx, module.Slots[assignment.Slot], assignment)
				diags = diags.Extend(moreDiags)
				configs[assignment.Slot] = config
			}
			return configs, diags.Extend(c.checkStateProviders(configs))
		},
	}
}

// checkStateProviders checks that all that the state's objects need to be read
// and destroyed is assigned, even if the module has no use for it any more.
func (c *ComponentInstance) checkStateProviders(configs map[engine.ProviderSlot]engine.ProviderConfig) hcl.Diagnostics {
	needed, err := stackstate.ProviderConfigs(c.priorModule())
	if err != nil {
		return hcl.Diagnostics{{
			Severity: hcl.DiagError,
			Summary:  "Unreadable component state",
			Detail:   fmt.Sprintf("The state of %s cannot be read: %s.", c.addr, err),
			Extra:    DiagnosticAddress{Component: c.addr},
		}}
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
		diags = diags.Append(&hcl.Diagnostic{
			Severity: hcl.DiagError,
			Summary:  "Provider needed by existing resources not assigned",
			Detail:   fmt.Sprintf("Resources of %s in the state were made with provider %s. Assign a configuration of it to %s in the providers argument, at least until they are destroyed.", c.addr, need.Provider, slot),
			Subject:  c.component.config.decl.Range.Ptr(),
			Extra:    DiagnosticAddress{Component: c.addr},
		})
	}
	return diags
}

func isAssigned(need stackstate.ProviderConfig, configs map[engine.ProviderSlot]engine.ProviderConfig) bool {
	for slot, config := range configs {
		if slot.Alias == need.Alias && isSource(need.Provider, config.Provider) {
			return true
		}
	}
	return false
}

// isSource tells whether a source address in a state document means a provider.
// Each engine has its own default registry, and writes that one.
func isSource(source string, provider stackaddrs.Provider) bool {
	if provider.Hostname == "registry.terraform.io" && source == "registry.opentofu.org/"+provider.Namespace+"/"+provider.Type {
		return true
	}
	return source == provider.String()
}

// providerFor finds the provider configuration assigned to a slot. declared is
// nil for a slot that the module does not have.
func (c *ComponentInstance) providerFor(ctx context.Context, declared *engine.Slot, assignment stackconfig.ProviderAssignment) (engine.ProviderConfig, hcl.Diagnostics) {
	config := engine.ProviderConfig{Config: expr.Placeholder(cty.DynamicPseudoType)}
	if declared != nil {
		config.Provider = declared.Provider
	}
	result, diags := expr.EvalExprAndEvalContext(ctx, assignment.Value, c.main().phase, c.scope())
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
			fmt.Sprintf("The slot %q takes a configuration of provider %s, but this is a %s.", assignment.Slot, declared.Provider, ref.Type().FriendlyName()))}
	case !ref.IsKnown():
		config.Unknown = true
		return config, nil
	case ref.IsNull():
		return config, hcl.Diagnostics{result.Diagnostic("Provider slot got null",
			fmt.Sprintf("The slot %q takes a provider configuration, which cannot be null.", assignment.Slot))}
	}
	config.Provider = provider
	inst := c.main().providerInstance(ctx, stackconfig.ProviderRefTarget(ref))
	if inst == nil {
		return config, hcl.Diagnostics{bugDiagnostic("Unknown provider configuration", "The reference in slot %q leads nowhere.", assignment.Slot)}
	}
	config.Config = inst.Args(ctx)
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
