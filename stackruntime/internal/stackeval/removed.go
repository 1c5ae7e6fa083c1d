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
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/inputs"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/memo"
	"github.com/cairnstacks/cairn/stackruntime/stackconfig"
)

// Removed is a removed block in one stack instance, before its for_each is applied.
type Removed struct {
	stack  *Stack
	config *RemovedConfig

	instances[*RemovedInstance]
	targets memo.Memo[*blockTargets]
}

func newRemoved(stack *Stack, config *RemovedConfig) *Removed {
	r := &Removed{stack: stack, config: config}
	r.instances = newInstances(stack, stack.addr.String()+" "+config.addr, config.decl.ForEach, "removed", noKeys,
		func(_ stackaddrs.InstanceKey, repetition foreach.Repetition) *RemovedInstance {
			return &RemovedInstance{removed: r, repetition: repetition}
		})
	return r
}

// blockTargets are the instances of one removed block by what they name.
type blockTargets struct {
	named  map[stackaddrs.StackInstance][]*RemovedInstance // by the stack instance that has the target
	open   []*RemovedInstance                              // whose targets are not known before apply
	failed bool                                            // some targets could not be found out
}

// Targets sorts the instances of the block by what they name.
func (r *Removed) Targets(ctx context.Context) *blockTargets {
	return r.targets.Value(ctx, func() memo.Aspect[*blockTargets] {
		return memo.Aspect[*blockTargets]{
			Name:        r.stack.addr.String() + " " + r.config.addr + " targets",
			Placeholder: &blockTargets{failed: true},
			Compute: func(ctx context.Context) (*blockTargets, hcl.Diagnostics) {
				instances := r.Instances(ctx)
				found := &blockTargets{
					named:  make(map[stackaddrs.StackInstance][]*RemovedInstance),
					failed: instances.Kind == foreach.Failed,
				}
				for _, inst := range instances.WithStandIns() {
					switch target := inst.Target(ctx); {
					case target == nil:
						found.failed = true
					case target.open:
						found.open = append(found.open, inst)
					default:
						found.named[target.stack] = append(found.named[target.stack], inst)
					}
				}
				return found, nil
			},
		}
	})
}

// RemovedInstance is one result of a removed block: it names one component
// instance or stack instance that has to go.
type RemovedInstance struct {
	removed    *Removed
	repetition foreach.Repetition

	target memo.Memo[*removalTarget]
	inputs memo.Memo[map[string]cty.Value] // of stacks that go
}

// removalTarget is a component instance, or a stack instance with all that is in it.
type removalTarget struct {
	stack     stackaddrs.StackInstance // that the component is in, or that embeds the one to remove
	component string                   // empty if a stack goes
	call      string                   // empty if a component goes
	key       stackaddrs.InstanceKey

	// open is set if a key is not known before apply. Wildcards stand for such keys.
	open bool
}

// covers tells whether a component instance is what is named, or in it, for all we know.
func (t *removalTarget) covers(addr stackaddrs.AbsComponentInstance) bool {
	if t.component != "" {
		return t.isIn(addr.Stack) && t.component == addr.Item.Component.Name && sameKey(t.key, addr.Item.Key)
	}
	for stack := addr.Stack; ; {
		caller, step, ok := stack.Parent()
		if !ok {
			return false
		}
		if t.isIn(caller) && t.call == step.Call.Name && sameKey(t.key, step.Key) {
			return true
		}
		stack = caller
	}
}

// isIn tells whether the target may be directly in a stack instance.
func (t *removalTarget) isIn(stack stackaddrs.StackInstance) bool {
	pattern := t.stack
	for pattern != stack {
		outer, want, ok := pattern.Parent()
		caller, step, more := stack.Parent()
		if !ok || !more || want.Call != step.Call || !sameKey(want.Key, step.Key) {
			return false
		}
		pattern, stack = outer, caller
	}
	return true
}

func sameKey(pattern, key stackaddrs.InstanceKey) bool { return pattern.IsWildcard() || pattern == key }

// Target is what has to go; nil when that could not be found out.
func (r *RemovedInstance) Target(ctx context.Context) *removalTarget {
	return r.target.Value(ctx, r.targetAspect)
}

// PlanChanges implements [Plannable].
func (r *RemovedInstance) PlanChanges(ctx context.Context) ([]PlannedChange, hcl.Diagnostics) {
	return nil, r.CheckApply(ctx)
}

// CheckApply implements [Applyable].
func (r *RemovedInstance) CheckApply(ctx context.Context) hcl.Diagnostics {
	_, diags := r.target.Check(ctx, r.targetAspect)
	return diags
}

func (r *RemovedInstance) targetAspect() memo.Aspect[*removalTarget] {
	return memo.Aspect[*removalTarget]{
		Name: r.removed.stack.addr.String() + " " + r.removed.config.addr,
		Compute: func(ctx context.Context) (*removalTarget, hcl.Diagnostics) {
			stacks, last := splitFrom(r.removed.config.decl.From)
			target := &removalTarget{stack: r.removed.stack.addr}
			var diags hcl.Diagnostics
			usable := true
			evaluate := func(step stackconfig.RemovedStep) stackaddrs.InstanceKey {
				key, ok, moreDiags := r.key(ctx, step)
				diags = diags.Extend(moreDiags)
				usable = usable && ok
				target.open = target.open || key.IsWildcard()
				return key
			}
			for _, step := range stacks {
				target.stack = target.stack.Child(step.Name, evaluate(step))
			}
			target.key = evaluate(last)
			if r.removed.config.decl.From.Component != nil {
				target.component = last.Name
			} else {
				target.call = last.Name
			}
			if !usable {
				return nil, diags
			}
			return target, diags
		},
	}
}

// key evaluates the index of a step: the wildcard if it is not known before
// apply. ok is false when there is none to go on with.
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
	if key, ok = stackaddrs.KeyFromValue(value); !ok {
		diags = diags.Append(result.Diagnostic("Unusable index in from",
			fmt.Sprintf("An index must be a string or a whole number, this is a %s.", friendlyType(value))))
	}
	return key, ok, diags
}

func friendlyType(v cty.Value) string {
	if v.IsNull() {
		return "null"
	}
	return v.Type().FriendlyName()
}

// subject is where the block says what it removes.
func (r *RemovedInstance) subject() *hcl.Range { return r.removed.config.decl.From.Range.Ptr() }

// fate says what becomes of what the block names.
func (r *RemovedInstance) fate() fate {
	if r.removed.config.decl.Destroy {
		return destroyed
	}
	return forgotten
}

// InputValues implements [embedder].
func (r *RemovedInstance) InputValues(ctx context.Context) map[string]cty.Value {
	return r.inputs.Value(ctx, r.inputsAspect)
}

func (r *RemovedInstance) inputsAspect() memo.Aspect[map[string]cty.Value] {
	config := r.removed.config
	set := inputs.OfStack(config.child().decl)
	return memo.Aspect[map[string]cty.Value]{
		Name:        r.removed.stack.addr.String() + " " + config.addr + " inputs",
		Placeholder: set.Placeholders(),
		Compute: func(ctx context.Context) (map[string]cty.Value, hcl.Diagnostics) {
			block := r.removed.stack
			return evalStackInputs(ctx, config.decl.Inputs, config.decl.Range, set, block.main.phase, repetitionScope{block, r.repetition})
		},
	}
}
