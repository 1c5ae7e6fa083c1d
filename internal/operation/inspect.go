// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package operation

import (
	"context"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/operation/variables"
	"github.com/cairnstacks/cairn/internal/safehcl"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime"
	"github.com/cairnstacks/cairn/stackruntime/stackconfig"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
	"github.com/cairnstacks/cairn/stackruntime/stackstate"
)

// InspectRequest names the state, the values and the place with which expressions are evaluated.
// The zero value is the stored state, in the root of the stack.
type InspectRequest struct {
	Stack     stackaddrs.StackInstance // in which the expressions are
	Variables []variables.Argument     // others have the values of the last apply, or of the plan
	Plan      *stackplan.Plan          // values are as planned; nil stands for those of the stored state
}

// Inspection evaluates expressions. The stack that has opened it must not be closed before.
type Inspection struct {
	Stack *stackconfig.Stack // whose names the expressions may use

	inspector *stackruntime.Inspector
	files     map[string]*hcl.File
}

// ExpressionFile is the name of the file in diagnostics about an expression.
const ExpressionFile = "<console>"

// Inspect prepares for evaluating expressions. With errors there is no inspection.
func (s *Stack) Inspect(ctx context.Context, req InspectRequest) (*Inspection, hcl.Diagnostics) {
	var given variables.Given
	if config, found := s.sources.Config(); config != nil && !found.HasErrors() { // the others are those of Runtime
		var diags hcl.Diagnostics
		if given, diags = variables.Read(config.Root.Variables, s.valueSources(req.Variables), s.env.Files); diags.HasErrors() {
			return nil, diags // before providers are installed
		}
	}
	opts, diags := s.Runtime(ctx)
	if diags.HasErrors() {
		return nil, diags
	}
	declared := opts.Config.Descendant(req.Stack.Config())
	if declared == nil {
		return nil, diags.Append(failure.New("No such stack", "The configuration has no %s.", req.Stack))
	}
	state, err := s.inspectedState(ctx, req.Plan)
	if err != nil {
		return nil, diags.Extend(Diagnostics(err))
	}
	return &Inspection{
		Stack: declared,
		files: s.env.Files,
		inspector: stackruntime.Inspect(stackruntime.InspectRequest{
			Options: opts,
			State:   state,
			Inputs:  inspectedInputs(opts.Config.Root, given, state),
			Stack:   req.Stack,
		}),
	}, diags
}

// inspectedState is the stored state, or the planned one.
func (s *Stack) inspectedState(ctx context.Context, plan *stackplan.Plan) (*stackstate.State, error) {
	if plan != nil {
		return PlannedState(plan), nil
	}
	stored, err := s.states.ReadToShow(ctx)
	if err != nil {
		return nil, err
	}
	return stored.State, nil
}

// PlannedState is the state after a plan, as far as expressions see it.
func PlannedState(plan *stackplan.Plan) *stackstate.State {
	state := stackstate.New()
	for name, input := range plan.Inputs {
		state.Inputs[name] = input.After
	}
	for _, c := range plan.Components {
		if c.Action != stackplan.Delete && c.Action != stackplan.Forget {
			state.Components[c.Addr] = &stackstate.Component{Addr: c.Addr, Outputs: c.Outputs}
		}
	}
	return state
}

// inspectedInputs are the values that were given, and for other variables those of the last apply.
func inspectedInputs(root *stackconfig.Stack, given variables.Given, state *stackstate.State) map[string]cty.Value {
	inputs := map[string]cty.Value{}
	for name := range root.Variables {
		if stored, ok := state.Inputs[name]; ok && !stored.IsNull() {
			// Sensitive also where the declaration does not say it: a deployment file may have taken the
			// value from a store or another stack.
			inputs[name] = stored
		}
		if value, ok := given.Values[name]; ok {
			inputs[name] = value
		}
	}
	return inputs
}

// Eval returns the value of an expression. With errors it is unknown.
func (i *Inspection) Eval(ctx context.Context, source string) (cty.Value, hcl.Diagnostics) {
	src := []byte(source)
	i.files[ExpressionFile] = &hcl.File{Bytes: src}
	expr, diags := safehcl.ParseExpression(src, ExpressionFile, hcl.InitialPos)
	if diags.HasErrors() {
		return cty.DynamicVal, diags
	}
	value, moreDiags := i.inspector.EvalExpr(ctx, expr)
	return value, diags.Extend(moreDiags)
}
