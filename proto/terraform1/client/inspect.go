// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package client

import (
	"context"
	"fmt"

	"google.golang.org/protobuf/types/known/anypb"

	stackspb "github.com/cairnstacks/cairn/proto/terraform1/stacks"
)

// InspectOptions are the parameters of [Stack.Inspect].
type InspectOptions struct {
	State *State // nil stands for no state
	Plan  *Plan  // values are as planned, in the place of those of a state; nil for none

	// Inputs are the values of input variables. Others are unknown, or as planned.
	Inputs map[string]Input
}

// Inspector evaluates expressions. It is safe for concurrent use.
type Inspector struct {
	stack  *Stack
	handle int64
}

// Inspect prepares for evaluating expressions in the root of the stack, as the command console
// does. The server keeps the data for it until the process ends.
//
// Errors: [*DiagnosticsError].
func (s *Stack) Inspect(ctx context.Context, opts InspectOptions) (*Inspector, error) {
	inputs, err := encodeInputs(opts.Inputs)
	if err != nil {
		return nil, wrap("inspecting the stack", err)
	}
	req := &stackspb.OpenStackInspector_Request{
		StackConfigHandle: s.config, DependencyLocksHandle: s.locks, ProviderCacheHandle: s.cache, InputValues: inputs,
	}
	switch {
	case opts.Plan != nil:
		req.State = map[string]*anypb.Any{}
		for i, element := range opts.Plan.Raw() {
			req.State[fmt.Sprintf("%012d", i)] = element
		}
	case opts.State != nil:
		req.State = opts.State.Raw
	}
	response, err := s.client.stacks.OpenStackInspector(ctx, req)
	if err != nil {
		return nil, wrap("inspecting the stack", err)
	}
	if err := newDiagnostics(response.GetDiagnostics()).err(); err != nil {
		return nil, err
	}
	return &Inspector{s, response.GetStackInspectorHandle()}, nil
}

// Eval returns the value of an expression of the stack language, which may be unknown. Mistakes in
// the expression are in the diagnostics.
func (i *Inspector) Eval(ctx context.Context, expression string) (Value, Diagnostics, error) {
	response, err := i.stack.client.stacks.InspectExpressionResult(ctx, &stackspb.InspectExpressionResult_Request{
		StackInspectorHandle: i.handle, ExpressionSrc: []byte(expression),
	})
	if err != nil {
		return Value{}, nil, wrap("evaluating an expression", err)
	}
	diags := newDiagnostics(response.GetDiagnostics())
	if response.GetResult() == nil {
		return Value{}, diags, nil
	}
	value, err := DecodeValue(response.GetResult())
	return value, diags, err
}
