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
	r.instances = newInstances(stack, stack.addr.String()+" "+config.addr, config.decl.ForEach, "removed", noKeys,
		func(_ stackaddrs.InstanceKey, repetition foreach.Repetition) *RemovedInstance {
			return &RemovedInstance{removed: r, repetition: repetition}
		})
	return r
}

// RemovedInstance is one result of a removed block: it names one component
// instance or stack instance that has to go.
type RemovedInstance struct {
	removed    *Removed
	repetition foreach.Repetition

	target  memo.Memo[*removalTarget]
	inputs  memo.Memo[map[string]cty.Value] // of a stack that goes
	leaving memo.Memo[*Stack]
}

// removalTarget is a component instance, or a stack instance with all that is in it.
type removalTarget struct {
	stack     stackaddrs.StackInstance
	component *stackaddrs.AbsComponentInstance // nil when the stack goes
}

func (t *removalTarget) String() string {
	if t.component != nil {
		return t.component.String()
	}
	return t.stack.String()
}

// Target is what has to go; nil when that could not be found out.
func (r *RemovedInstance) Target(ctx context.Context) *removalTarget {
	return r.target.Value(ctx, r.targetAspect)
}

// PlanChanges implements [Plannable].
func (r *RemovedInstance) PlanChanges(ctx context.Context) ([]PlannedChange, hcl.Diagnostics) {
	return nil, r.checkTarget(ctx)
}

// CheckApply implements [Applyable].
func (r *RemovedInstance) CheckApply(ctx context.Context) hcl.Diagnostics { return r.checkTarget(ctx) }

func (r *RemovedInstance) checkTarget(ctx context.Context) hcl.Diagnostics {
	target, diags := r.target.Check(ctx, r.targetAspect)
	if target == nil || target.component != nil {
		return diags
	}
	return diags.Extend(r.checkStack(ctx, target.stack))
}

func (r *RemovedInstance) targetAspect() memo.Aspect[*removalTarget] {
	return memo.Aspect[*removalTarget]{
		Name: r.removed.stack.addr.String() + " " + r.removed.config.addr,
		Compute: func(ctx context.Context) (*removalTarget, hcl.Diagnostics) {
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
			if from.Component == nil {
				if !usable {
					return nil, diags
				}
				return &removalTarget{stack: stack}, diags
			}
			key, ok, moreDiags := r.key(ctx, *from.Component)
			diags = diags.Extend(moreDiags)
			if !ok || !usable {
				return nil, diags
			}
			addr := stackaddrs.InstanceOf(stackaddrs.AbsComponent{Stack: stack, Item: stackaddrs.Component{Name: from.Component.Name}}, key)
			return &removalTarget{stack: stack, component: &addr}, diags
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

// removals are what removed blocks claim, with what is wrong about the claims.
type removals struct {
	components map[stackaddrs.AbsComponentInstance]*RemovedComponentInstance
	stacks     map[stackaddrs.StackInstance]*RemovedInstance // that the prior state, or the plan, knows
	diags      hcl.Diagnostics
}

// removedBlocks collects the claims of all removed blocks.
func (m *Main) removedBlocks(ctx context.Context) removals {
	return m.removed.Value(ctx, func() memo.Aspect[removals] {
		return memo.Aspect[removals]{
			Name: "removed blocks",
			Compute: func(ctx context.Context) (removals, hcl.Diagnostics) {
				found := removals{
					components: make(map[stackaddrs.AbsComponentInstance]*RemovedComponentInstance),
					stacks:     make(map[stackaddrs.StackInstance]*RemovedInstance),
				}
				m.stack.collectRemovals(ctx, &found)
				return found, nil
			},
		}
	})
}

func (s *Stack) collectRemovals(ctx context.Context, found *removals) {
	for _, removed := range s.removed {
		for _, inst := range removed.Instances(ctx).InOrder() {
			inst.claim(ctx, found)
		}
	}
	for _, name := range sortedKeys(s.calls) {
		for _, inst := range s.calls[name].Instances(ctx).WithStandIns() {
			if inst.stack != nil {
				inst.stack.collectRemovals(ctx, found)
			}
		}
	}
}

// claim adds what the instance removes to what was found before.
func (r *RemovedInstance) claim(ctx context.Context, found *removals) {
	target := r.Target(ctx)
	switch {
	case target == nil:
	case target.component != nil:
		if other, taken := found.components[*target.component]; taken {
			found.diags = found.diags.Append(r.removedTwice(target, other.removed))
			return
		}
		found.components[*target.component] = newRemovedComponentInstance(r, *target.component)
	default:
		if other, taken := found.stacks[target.stack]; taken {
			found.diags = found.diags.Append(r.removedTwice(target, other))
			return
		}
		if r.removed.stack.main.knows(target.stack) && r.calledStack(ctx, target.stack) == no {
			found.stacks[target.stack] = r
			r.stack(ctx).collectRemovals(ctx, found)
		}
	}
}

func (r *RemovedInstance) removedTwice(target *removalTarget, other *RemovedInstance) *hcl.Diagnostic {
	return &hcl.Diagnostic{
		Severity: hcl.DiagError,
		Summary:  "Instance removed twice",
		Detail:   fmt.Sprintf("%s is already claimed by the block at %s.", target, other.removed.config.decl.Range),
		Subject:  r.removed.config.decl.From.Range.Ptr(),
	}
}

// calledStack tells whether stack calls alone produce a stack instance.
func (r *RemovedInstance) calledStack(ctx context.Context, addr stackaddrs.StackInstance) certainty {
	stack := r.removed.stack.main.stack
	for _, step := range addr.Path() {
		child, found := stack.called(ctx, step)
		if found != yes {
			return found
		}
		stack = child
	}
	return yes
}

// knows tells whether there is a component instance below a stack instance, in
// the prior state or, while applying, in the plan.
func (m *Main) knows(stack stackaddrs.StackInstance) bool {
	for addr := range m.existing() {
		if stack.Contains(addr.Stack) {
			return true
		}
	}
	return false
}

// stack is the stack instance that the instance removes. To be called only for
// one that the configuration has files for.
func (r *RemovedInstance) stack(ctx context.Context) *Stack {
	return r.leaving.Value(ctx, func() memo.Aspect[*Stack] {
		return memo.Aspect[*Stack]{
			Name: r.removed.stack.addr.String() + " " + r.removed.config.addr + " stack",
			Compute: func(ctx context.Context) (*Stack, hcl.Diagnostics) {
				main := r.removed.stack.main
				fate := destroyed
				if !r.removed.config.decl.Destroy {
					fate = forgotten
				}
				addr := r.Target(ctx).stack
				return newStack(main, addr, main.config.descendant(addr.Config()), r, fate), nil
			},
		}
	})
}

// InputValues implements [embedder].
func (r *RemovedInstance) InputValues(ctx context.Context) map[string]cty.Value {
	return r.inputs.Value(ctx, r.inputsAspect)
}

// requiredComponents implements [embedder].
func (r *RemovedInstance) requiredComponents(ctx context.Context) componentSet {
	return r.removed.stack.requiredBy(ctx, r.removed.config.decl.ForEach, r.removed.config.decl.Inputs)
}

func (r *RemovedInstance) inputsAspect() memo.Aspect[map[string]cty.Value] {
	config := r.removed.config
	set := stackInputs(config.child().decl)
	return memo.Aspect[map[string]cty.Value]{
		Name:        r.removed.stack.addr.String() + " " + config.addr + " inputs",
		Placeholder: set.placeholders(),
		Compute: func(ctx context.Context) (map[string]cty.Value, hcl.Diagnostics) {
			block := r.removed.stack
			return evalStackInputs(ctx, config.decl.Inputs, config.decl.Range, set, block.main.phase, repetitionScope{block, r.repetition})
		},
	}
}

// checkStack reports what is wrong with the removal of a whole stack.
func (r *RemovedInstance) checkStack(ctx context.Context, target stackaddrs.StackInstance) hcl.Diagnostics {
	main := r.removed.stack.main
	subject := r.removed.config.decl.From.Range.Ptr()
	if r.calledStack(ctx, target) == yes {
		return hcl.Diagnostics{{
			Severity: hcl.DiagError,
			Summary:  "Instance both declared and removed",
			Detail:   fmt.Sprintf("%s is still produced by a stack block.", target),
			Subject:  subject,
		}}
	}
	if !main.knows(target) {
		return nil // it has never been there, or is gone
	}
	caller, _, _ := target.Parent()
	if _, found := main.findStack(ctx, caller); found == no {
		return hcl.Diagnostics{{
			Severity: hcl.DiagError,
			Summary:  "Removal target lies in a missing stack",
			Detail:   fmt.Sprintf("%s exists in the state, but nothing in the configuration produces %s any more. Remove that instead.", target, caller),
			Subject:  subject,
		}}
	}
	_, diags := r.inputs.Check(ctx, r.inputsAspect)
	return diags
}
