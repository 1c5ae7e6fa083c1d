// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package testprovider

import (
	"context"
	"errors"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
	"github.com/zclconf/go-cty/cty"
)

const actionName = "fake_action"

const phaseInvoke phase = "invoke"

var _ tfprotov6.ActionServer = (*server)(nil)

func actionSchema() *tfprotov6.ActionSchema {
	return &tfprotov6.ActionSchema{Schema: schemaOf(nil,
		attribute("value", tftypes.String, optional),
		attribute("secret", tftypes.String, optional|sensitive),
		attribute("progress", stringList, optional),
		attribute("defer", tftypes.Bool, optional),
		attribute("fail_plan", tftypes.Bool, optional),
		attribute("fail_invoke", tftypes.Bool, optional),
		attribute("invoke_delay", tftypes.String, optional),
		attribute("invoke_gate", tftypes.String, optional),
		attribute("panic_on", tftypes.String, optional),
	)}
}

// actionArguments returns the configuration in a request, which is recorded.
func actionArguments(rpc, typeName string, config *tfprotov6.DynamicValue) (cty.Value, error) {
	args, err := decode(config, valueType(actionSchema().Schema.ValueType()))
	if err == nil {
		record(Call{RPC: rpc, Type: typeName, ID: stringArgument(args, "value")})
	}
	return args, err
}

func (s *server) ValidateActionConfig(
	_ context.Context, req *tfprotov6.ValidateActionConfigRequest,
) (*tfprotov6.ValidateActionConfigResponse, error) {
	args, err := actionArguments("ValidateActionConfig", req.ActionType, req.Config)
	if err != nil {
		return nil, err
	}
	resp := new(tfprotov6.ValidateActionConfigResponse)
	if stringArgument(args, "value") == Refused {
		resp.Diagnostics = append(resp.Diagnostics, refusal(tftypes.NewAttributePath().WithAttributeName("value")))
	}
	return resp, nil
}

func (s *server) PlanAction(_ context.Context, req *tfprotov6.PlanActionRequest) (*tfprotov6.PlanActionResponse, error) {
	args, err := actionArguments("PlanAction", req.ActionType, req.Config)
	if err != nil {
		return nil, err
	}
	resp := new(tfprotov6.PlanActionResponse)
	mayDefer := req.ClientCapabilities != nil && req.ClientCapabilities.DeferralAllowed
	switch {
	case mayDefer && (s.config.unknown || boolArgument(args, "defer")):
		resp.Deferred = &tfprotov6.Deferred{Reason: tfprotov6.DeferredReasonProviderConfigUnknown}
	case boolArgument(args, "fail_plan"):
		resp.Diagnostics = append(resp.Diagnostics, errorDiagnostic("Planning the action failed", errors.New("fail_plan is true")))
	}
	return resp, nil
}

func (s *server) InvokeAction(ctx context.Context, req *tfprotov6.InvokeActionRequest) (*tfprotov6.InvokeActionServerStream, error) {
	args, err := actionArguments("InvokeAction", req.ActionType, req.Config)
	if err != nil {
		return nil, err
	}
	return &tfprotov6.InvokeActionServerStream{Events: func(yield func(tfprotov6.InvokeActionEvent) bool) {
		if messages, ok := knownArgument(args, "progress"); ok {
			for _, message := range messages.AsValueSlice() {
				if !yield(tfprotov6.InvokeActionEvent{Type: tfprotov6.ProgressInvokeActionEventType{Message: message.AsString()}}) {
					return
				}
			}
		}
		var completed tfprotov6.CompletedInvokeActionEventType
		if err := s.invoke(ctx, args); err != nil {
			completed.Diagnostics = append(completed.Diagnostics, errorDiagnostic("Action failed", err))
		}
		yield(tfprotov6.InvokeActionEvent{Type: completed})
	}}, nil
}

func (s *server) invoke(ctx context.Context, args cty.Value) error {
	if err := s.disturb(ctx, phaseInvoke, args); err != nil {
		return err
	}
	if s.config.unknown {
		return errConfigUnknown
	}
	return failure(phaseInvoke, args)
}
