// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackeval

import (
	"context"
	"fmt"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/expr"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/foreach"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/memo"
	"github.com/cairnstacks/cairn/stackruntime/stackconfig"
)

// Removed is a removed block in one stack instance, before its for_each is applied.
type Removed struct {
	stack  *Stack
	config *RemovedConfig

	instances[*RemovedInstance]
}

func newRemoved(stack *Stack, config *RemovedConfig) *Removed {
	r := &Removed{stack: stack, config: config}
	r.instances = newInstances(stack, stack.addr.String()+" "+config.addr, config.decl.ForEach, "removed",
		func(_ stackaddrs.InstanceKey, repetition foreach.Repetition) *RemovedInstance {
			return &RemovedInstance{removed: r, repetition: repetition}
		})
	return r
}

// RemovedInstance is one result of a removed block: it names one component
// instance that has to go.
type RemovedInstance struct {
	removed    *Removed
	repetition foreach.Repetition

	target memo.Memo[*stackaddrs.AbsComponentInstance]
}

// Target is what has to go; nil when that could not be found out.
func (r *RemovedInstance) Target(ctx context.Context) *stackaddrs.AbsComponentInstance {
	return r.target.Value(ctx, r.targetAspect)
}

// PlanChanges implements [Plannable].
func (r *RemovedInstance) PlanChanges(ctx context.Context) ([]PlannedChange, hcl.Diagnostics) {
	return nil, r.checkTarget(ctx)
}

// CheckApply implements [Applyable].
func (r *RemovedInstance) CheckApply(ctx context.Context) hcl.Diagnostics { return r.checkTarget(ctx) }

func (r *RemovedInstance) checkTarget(ctx context.Context) hcl.Diagnostics {
	_, diags := r.target.Check(ctx, r.targetAspect)
	return diags
}

func (r *RemovedInstance) targetAspect() memo.Aspect[*stackaddrs.AbsComponentInstance] {
	return memo.Aspect[*stackaddrs.AbsComponentInstance]{
		Name: r.removed.stack.addr.String() + " " + r.removed.config.addr,
		Compute: func(ctx context.Context) (*stackaddrs.AbsComponentInstance, hcl.Diagnostics) {
			var diags hcl.Diagnostics
			from := r.removed.config.decl.From
			stack := r.removed.stack.addr
			usable := true
			for _, step := range from.Stacks {
				key, ok, moreDiags := r.key(ctx, step)
				diags = diags.Extend(moreDiags)
				usable = usable && ok
				stack = stack.Child(step.Name, key)
			}
			key, ok, moreDiags := r.key(ctx, *from.Component)
			diags = diags.Extend(moreDiags)
			if !ok || !usable {
				return nil, diags
			}
			target := stackaddrs.InstanceOf(stackaddrs.AbsComponent{Stack: stack, Item: stackaddrs.Component{Name: from.Component.Name}}, key)
			return &target, diags
		},
	}
}

// key evaluates the index of a step. ok is false when there is none to go on with.
func (r *RemovedInstance) key(ctx context.Context, step stackconfig.RemovedStep) (key stackaddrs.InstanceKey, ok bool, diags hcl.Diagnostics) {
	if step.Index == nil {
		return stackaddrs.NoKey, true, nil
	}
	scope := repetitionScope{r.removed.stack, r.repetition}
	result, diags := expr.EvalExprAndEvalContext(ctx, step.Index, r.removed.stack.main.phase, scope)
	if diags.HasErrors() || expr.IsFailed(result.Value) {
		return stackaddrs.NoKey, false, diags
	}
	value, _ := result.Value.UnmarkDeep()
	key, ok = stackaddrs.KeyFromValue(value)
	switch {
	case !ok:
		return key, false, diags.Append(result.Diagnostic("Unusable index in from",
			fmt.Sprintf("An index must be a string or a whole number, this is a %s.", friendlyType(value))))
	case key.IsWildcard():
		return key, false, diags.Append(result.Diagnostic("Instance not known before apply",
			"The index depends on results that will be known only after apply, so it cannot be told which instance to remove."))
	}
	return key, true, diags
}

func friendlyType(v cty.Value) string {
	if v.IsNull() {
		return "null"
	}
	return v.Type().FriendlyName()
}

// removals are the component instances that removed blocks claim, with what is
// wrong about the claims.
type removals struct {
	claims map[stackaddrs.AbsComponentInstance]*RemovedComponentInstance
	diags  hcl.Diagnostics
}

// removedComponents collects the claims of all removed blocks.
func (m *Main) removedComponents(ctx context.Context) removals {
	return m.removed.Value(ctx, func() memo.Aspect[removals] {
		return memo.Aspect[removals]{
			Name: "removed components",
			Compute: func(ctx context.Context) (removals, hcl.Diagnostics) {
				found := removals{claims: make(map[stackaddrs.AbsComponentInstance]*RemovedComponentInstance)}
				m.stack.collectRemovals(ctx, &found)
				return found, nil
			},
		}
	})
}

func (s *Stack) collectRemovals(ctx context.Context, found *removals) {
	for _, removed := range s.removed {
		for _, inst := range removed.Instances(ctx).InOrder() {
			target := inst.Target(ctx)
			if target == nil {
				continue
			}
			if other, taken := found.claims[*target]; taken {
				found.diags = found.diags.Append(&hcl.Diagnostic{
					Severity: hcl.DiagError,
					Summary:  "Instance removed twice",
					Detail:   fmt.Sprintf("%s is already claimed by the block at %s.", target, other.use.place),
					Subject:  removed.config.decl.From.Range.Ptr(),
				})
				continue
			}
			found.claims[*target] = newRemovedComponentInstance(inst, *target)
		}
	}
	for _, name := range sortedKeys(s.calls) {
		for _, inst := range s.calls[name].Instances(ctx).InOrder() {
			if inst.stack != nil {
				inst.stack.collectRemovals(ctx, found)
			}
		}
	}
}
