// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stacks

import (
	"context"
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/operation"
	"github.com/cairnstacks/cairn/internal/operation/engines"
	"github.com/cairnstacks/cairn/internal/rpcapi/dependencies"
	"github.com/cairnstacks/cairn/internal/rpcapi/handle"
	"github.com/cairnstacks/cairn/internal/rpcapi/wire"
	"github.com/cairnstacks/cairn/internal/safehcl"
	planv1 "github.com/cairnstacks/cairn/proto/cairn/plan/v1"
	stackspb "github.com/cairnstacks/cairn/proto/terraform1/stacks"
	"github.com/cairnstacks/cairn/stackruntime"
	"github.com/cairnstacks/cairn/stackruntime/stackstate"
)

// inspectorHandle is the name in errors of handles of [*inspector].
const inspectorHandle = "stack inspector"

// expressionFile is the name of an expression in diagnostics about it.
const expressionFile = "<expression>"

// inspector has the configuration and the values that expressions are evaluated with. No method
// closes it, so that it has nothing open: each expression opens the stack anew, also after the
// configuration was closed.
type inspector struct {
	config    *configuration
	providers *operation.Providers
	state     *stackstate.State
	inputs    map[string]cty.Value // of all root variables
}

// OpenStackInspector implements [stackspb.StacksServer].
func (s *Service) OpenStackInspector(
	ctx context.Context, req *stackspb.OpenStackInspector_Request,
) (*stackspb.OpenStackInspector_Response, error) {
	config, err := s.configuration(req.GetStackConfigHandle())
	if err != nil {
		return nil, err
	}
	opened := &inspector{config: config}
	given := dependencies.Handles{Locks: req.GetDependencyLocksHandle(), Cache: req.GetProviderCacheHandle()}
	if opened.providers, err = s.providers(given); err != nil {
		return nil, err
	}
	if opened.state, err = s.inspectedState(req.GetState()); err != nil {
		return nil, err
	}
	inputs, err := parseInputs(req.GetInputValues())
	if err != nil {
		return nil, err
	}
	values, diags := convertInputs(inputs, config.config.Root.Variables)
	for name, declared := range config.config.Root.Variables {
		if _, ok := inputs[name]; !ok { // not even the default is the value that the stack has had
			values[name] = cty.UnknownVal(declared.Type.WithoutOptional())
			if planned, ok := opened.state.Inputs[name]; ok && isPlan(req.GetState()) {
				values[name], _ = planned.UnmarkDeep() // the declaration says whether it is sensitive
			}
		}
	}
	opened.inputs = values
	_, moreDiags, err := s.inspect(ctx, opened, func(stackruntime.Options) (cty.Value, hcl.Diagnostics) { return cty.NilVal, nil })
	if err != nil {
		return nil, err
	}
	diags = diags.Extend(moreDiags)
	response := &stackspb.OpenStackInspector_Response{Diagnostics: wire.Diagnostics(diags, config.sources.Name)}
	if !diags.HasErrors() {
		response.StackInspectorHandle = handle.Open(s.handles, opened)
	}
	return response, nil
}

// inspectedState returns the state that a request has, or the one that will be if it has a plan
// instead. The elements of a plan are in the order of their keys.
func (s *Service) inspectedState(raw map[string]*anypb.Any) (*stackstate.State, error) {
	if !isPlan(raw) {
		return decodeState(raw)
	}
	elements := make([]*anypb.Any, 0, len(raw))
	for _, key := range slices.Sorted(maps.Keys(raw)) {
		elements = append(elements, raw[key])
	}
	opened, err := s.readPlan(elements)
	if err != nil {
		return nil, err
	}
	return operation.PlannedState(opened.plan), nil
}

// isPlan reports whether elements are those of a plan, and not of a state.
func isPlan(raw map[string]*anypb.Any) bool {
	plans := (&planv1.PlanHeader{}).ProtoReflect().Descriptor().ParentFile().Package()
	for _, element := range raw {
		if element.MessageName().Parent() == plans {
			return true
		}
	}
	return false
}

// inspect calls eval with the options of the runtime. It returns the diagnostics of making these,
// too; eval is not called if there are errors among them.
func (s *Service) inspect(
	ctx context.Context, with *inspector, eval func(stackruntime.Options) (cty.Value, hcl.Diagnostics),
) (cty.Value, hcl.Diagnostics, error) {
	stack, done, err := s.open(with.config, operation.Options{Providers: with.providers, Engine: engines.Request{ChangesNothing: true}})
	if err != nil {
		return cty.NilVal, nil, err
	}
	defer done()
	runtime, diags := stack.Runtime(ctx)
	if diags.HasErrors() {
		return cty.NilVal, diags, nil
	}
	value, moreDiags := eval(runtime)
	return value, diags.Extend(moreDiags), nil
}

// InspectExpressionResult implements [stackspb.StacksServer]. With errors there is no result.
func (s *Service) InspectExpressionResult(
	ctx context.Context, req *stackspb.InspectExpressionResult_Request,
) (*stackspb.InspectExpressionResult_Response, error) {
	with, err := handle.Get[*inspector](s.handles, req.GetStackInspectorHandle(), inspectorHandle)
	if err != nil {
		return nil, err
	}
	if req.GetStackAddr() != "" {
		return nil, status.Error(codes.InvalidArgument, "expressions are evaluated in the topmost stack only: leave stack_addr empty")
	}
	expr, diags := safehcl.ParseExpression(req.GetExpressionSrc(), expressionFile, hcl.InitialPos)
	if diags.HasErrors() {
		return &stackspb.InspectExpressionResult_Response{Diagnostics: wire.Diagnostics(diags, nil)}, nil
	}
	value, moreDiags, err := s.inspect(ctx, with, func(runtime stackruntime.Options) (cty.Value, hcl.Diagnostics) {
		return stackruntime.Inspect(stackruntime.InspectRequest{Options: runtime, State: with.state, Inputs: with.inputs}).EvalExpr(ctx, expr)
	})
	if err != nil {
		return nil, err
	}
	diags = diags.Extend(moreDiags)
	response := &stackspb.InspectExpressionResult_Response{}
	if !diags.HasErrors() {
		var diag *hcl.Diagnostic
		if response.Result, diag = encodeResult(value, expr); diag != nil {
			diags = diags.Append(diag)
		}
	}
	response.Diagnostics = wire.Diagnostics(diags, with.config.sources.Name)
	return response, nil
}

// encodeResult returns the value of an expression, or why it cannot be sent.
func encodeResult(value cty.Value, expr hcl.Expression) (*stackspb.DynamicValue, *hcl.Diagnostic) {
	message, err := wire.Value(value)
	if err == nil {
		return message, nil
	}
	return nil, failure.At(expr.Range(), "Unsendable result", "The value of the expression cannot be sent: %s. Ask for a part of it.", err)
}
