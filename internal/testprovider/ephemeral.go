// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package testprovider

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
	"github.com/zclconf/go-cty/cty"
)

const ephemeralName = "fake_ephemeral"

func ephemeralSchema() *tfprotov6.Schema {
	return schemaOf(nil,
		attribute("name", tftypes.String, optional),
		attribute("value", tftypes.String, computed),
		attribute("renew_after", tftypes.String, optional),
		attribute("fail_open", tftypes.Bool, optional),
	)
}

func (s *server) ValidateEphemeralResourceConfig(
	_ context.Context, req *tfprotov6.ValidateEphemeralResourceConfigRequest,
) (*tfprotov6.ValidateEphemeralResourceConfigResponse, error) {
	record(Call{RPC: "ValidateEphemeralResourceConfig", Type: req.TypeName})
	args, err := decode(req.Config, valueType(ephemeralSchema().ValueType()))
	if err != nil {
		return nil, err
	}
	return &tfprotov6.ValidateEphemeralResourceConfigResponse{Diagnostics: judged(args, "name")}, nil
}

func (s *server) OpenEphemeralResource(
	_ context.Context, req *tfprotov6.OpenEphemeralResourceRequest,
) (*tfprotov6.OpenEphemeralResourceResponse, error) {
	ty := valueType(ephemeralSchema().ValueType())
	args, err := decode(req.Config, ty)
	if err != nil {
		return nil, err
	}
	name := stringArgument(args, "name")
	record(Call{RPC: "OpenEphemeralResource", Type: req.TypeName, ID: name, values: map[string]cty.Value{"config": args}})

	resp := new(tfprotov6.OpenEphemeralResourceResponse)
	if s.config.unknown && req.ClientCapabilities != nil && req.ClientCapabilities.DeferralAllowed {
		resp.Deferred = &tfprotov6.Deferred{Reason: tfprotov6.DeferredReasonProviderConfigUnknown}
		resp.Result, err = encode(withAttributes(args, map[string]cty.Value{"value": cty.UnknownVal(cty.String)}), ty)
		return resp, err
	}
	renewAfter := stringArgument(args, "renew_after")
	resp.RenewAt, err = renewTime(renewAfter)
	switch {
	case err != nil:
	case s.config.unknown:
		err = errConfigUnknown
	case boolArgument(args, "fail_open"):
		err = errors.New("fail_open is true")
	}
	if err != nil {
		resp.Diagnostics = append(resp.Diagnostics, errorDiagnostic("Opening failed", err))
		return resp, nil
	}
	resp.Private = []byte(renewAfter)
	resp.Result, err = encode(withAttributes(args, map[string]cty.Value{"value": cty.StringVal("ephemeral-" + name)}), ty)
	return resp, err
}

func (s *server) RenewEphemeralResource(
	_ context.Context, req *tfprotov6.RenewEphemeralResourceRequest,
) (*tfprotov6.RenewEphemeralResourceResponse, error) {
	record(Call{RPC: "RenewEphemeralResource", Type: req.TypeName})
	renewAt, err := renewTime(string(req.Private))
	if err != nil {
		return nil, err
	}
	return &tfprotov6.RenewEphemeralResourceResponse{Private: req.Private, RenewAt: renewAt}, nil
}

func (s *server) CloseEphemeralResource(
	_ context.Context, req *tfprotov6.CloseEphemeralResourceRequest,
) (*tfprotov6.CloseEphemeralResourceResponse, error) {
	record(Call{RPC: "CloseEphemeralResource", Type: req.TypeName})
	return new(tfprotov6.CloseEphemeralResourceResponse), nil
}

// renewTime returns when a resource with this renew_after needs renewing: never, the zero time, if
// it is empty.
func renewTime(renewAfter string) (time.Time, error) {
	if renewAfter == "" {
		return time.Time{}, nil
	}
	d, err := time.ParseDuration(renewAfter)
	if err != nil {
		return time.Time{}, fmt.Errorf("reading renew_after: %w", err)
	}
	return time.Now().Add(d), nil
}

// withAttributes returns obj with the given attributes in place of its own.
func withAttributes(obj cty.Value, attrs map[string]cty.Value) cty.Value {
	all := obj.AsValueMap()
	for name, v := range attrs {
		all[name] = v
	}
	return cty.ObjectVal(all)
}
