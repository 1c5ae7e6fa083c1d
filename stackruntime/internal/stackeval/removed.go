// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackeval

import (
	"context"
	"fmt"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/claims"
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

// blockTargets are the instances of one removed block by their targets.
type blockTargets struct {
	named   map[stackaddrs.StackInstance][]*RemovedInstance // by the stack instance that has the target
	unknown []*RemovedInstance                              // whose targets are not known before apply
	failed  bool                                            // some targets could not be found out
}

// Targets sorts the instances of the block by their targets.
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
					case target.Unknown:
						found.unknown = append(found.unknown, inst)
					default:
						found.named[target.Stack] = append(found.named[target.Stack], inst)
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

	target memo.Memo[*claims.Target]
	inputs memo.Memo[map[string]cty.Value] // of stacks that go
}

// Target is the object that has to go; nil when it could not be evaluated.
func (r *RemovedInstance) Target(ctx context.Context) *claims.Target {
	return r.target.Value(ctx, r.targetAspect)
}

// Check implements [Checkable].
func (r *RemovedInstance) Check(ctx context.Context) hcl.Diagnostics {
	_, diags := r.target.Check(ctx, r.targetAspect)
	return diags
}

func (r *RemovedInstance) targetAspect() memo.Aspect[*claims.Target] {
	return memo.Aspect[*claims.Target]{
		Name: r.removed.stack.addr.String() + " " + r.removed.config.addr,
		Compute: func(ctx context.Context) (*claims.Target, hcl.Diagnostics) {
			stacks, last := splitFrom(r.removed.config.decl.From)
			target := &claims.Target{Stack: r.removed.stack.addr}
			var diags hcl.Diagnostics
			usable := true
			evaluate := func(step stackconfig.RemovedStep) stackaddrs.InstanceKey {
				key, ok, moreDiags := r.key(ctx, step)
				diags = diags.Extend(moreDiags)
				usable = usable && ok
				target.Unknown = target.Unknown || key.IsWildcard()
				return key
			}
			for _, step := range stacks {
				target.Stack = target.Stack.Child(step.Name, evaluate(step))
			}
			target.Key, target.Whole = evaluate(last), last.Index == nil
			if r.removed.config.decl.From.Component != nil {
				target.Component = last.Name
			} else {
				target.Call = last.Name
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
func (r *RemovedInstance) key(
	ctx context.Context, step stackconfig.RemovedStep,
) (key stackaddrs.InstanceKey, ok bool, diags hcl.Diagnostics) {
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

// subject is the place where the block names its target.
func (r *RemovedInstance) subject() *hcl.Range { return r.removed.config.decl.From.Range.Ptr() }

// disposition is the fate of the block's target.
func (r *RemovedInstance) disposition() disposition {
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

// RemovedConfig is a removed block.
type RemovedConfig struct {
	stack *StackConfig
	decl  *stackconfig.Removed
	addr  string // as in "<main> -> component.x (removed)"

	targetStack stackaddrs.Stack // that has the component, or embeds the stack, that goes

	moduleUse // of component targets
}

func newRemovedConfig(stack *StackConfig, decl *stackconfig.Removed) *RemovedConfig {
	target := removedTarget(stack.addr, decl.From)
	stacks, _ := splitFrom(decl.From)
	return &RemovedConfig{
		stack:       stack,
		decl:        decl,
		addr:        stack.addr.String() + " -> " + target + " (removed)",
		targetStack: descend(stack.addr, stacks),
		moduleUse: moduleUse{
			stack: stack, user: target, source: decl.Source,
			providers: decl.Providers, forEach: decl.ForEach, place: decl.Range,
		},
	}
}

// removedTarget is the configuration address of a block's target.
func removedTarget(stack stackaddrs.Stack, from *stackconfig.RemovedFrom) string {
	stack = descend(stack, from.Stacks)
	if from.Component == nil {
		return stack.String()
	}
	return stackaddrs.ConfigComponent{Stack: stack, Item: stackaddrs.Component{Name: from.Component.Name}}.String()
}

// splitFrom takes the last step from the stacks it is in.
func splitFrom(from *stackconfig.RemovedFrom) (stacks []stackconfig.RemovedStep, last stackconfig.RemovedStep) {
	if from.Component != nil {
		return from.Stacks, *from.Component
	}
	n := len(from.Stacks) - 1
	return from.Stacks[:n], from.Stacks[n]
}

func descend(stack stackaddrs.Stack, steps []stackconfig.RemovedStep) stackaddrs.Stack {
	for _, step := range steps {
		stack = stack.Child(step.Name)
	}
	return stack
}

// Validate reports the mistakes that any instance would have.
func (r *RemovedConfig) Validate(ctx context.Context) hcl.Diagnostics {
	scope, diags := staticInstanceScope(ctx, r.stack, r.decl.ForEach, "removed")
	stacks, last := splitFrom(r.decl.From)
	for _, step := range append(slices.Clone(stacks), last) {
		if step.Index != nil {
			_, moreDiags := expr.EvalExpr(ctx, step.Index, expr.ValidatePhase, scope)
			diags = diags.Extend(moreDiags)
		}
	}
	if r.decl.From.Component == nil {
		return diags.Extend(r.checkStackInputs(ctx, scope))
	}
	diags = diags.Extend(r.checkAssignments(ctx, scope))
	return diags.Extend(r.checkModule(ctx))
}

func (r *RemovedConfig) checkStackInputs(ctx context.Context, scope expr.EvaluationScope) hcl.Diagnostics {
	child := r.child()
	if child == nil {
		return nil // the loader has reported why
	}
	set := inputs.OfStack(child.decl)
	_, diags := evalStackInputs(ctx, r.decl.Inputs, r.decl.Range, set, expr.ValidatePhase, scope)
	if r.decl.Inputs != nil {
		diags = diags.Extend(set.Undeclared(r.decl.Inputs))
	}
	return diags
}

// child is the stack that the block removes; nil for a component, and if it could not be loaded.
func (r *RemovedConfig) child() *StackConfig {
	if r.decl.From.Component != nil {
		return nil
	}
	return r.stack.main.config.descendant(descend(r.stack.addr, r.decl.From.Stacks))
}
