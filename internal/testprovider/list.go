// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package testprovider

import (
	"context"
	"fmt"
	"strings"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
	"github.com/zclconf/go-cty/cty"
)

// listName is the list resource, and the type of the objects that it finds.
const listName = "fake_identity"

const phaseList phase = "list"

var _ tfprotov6.ListResourceServer = (*server)(nil)

func listSchema() *tfprotov6.Schema {
	return schemaOf(nil,
		attribute("prefix", tftypes.String, optional),
		attribute("warn", tftypes.String, optional),
		attribute("fail_list", tftypes.Bool, optional),
		attribute("list_delay", tftypes.String, optional),
		attribute("list_gate", tftypes.String, optional),
		attribute("panic_on", tftypes.String, optional),
	)
}

// listArguments returns the configuration in a request, which is recorded.
func listArguments(rpc, typeName string, config *tfprotov6.DynamicValue) (cty.Value, error) {
	args, err := decode(config, valueType(listSchema().ValueType()))
	if err == nil {
		record(Call{RPC: rpc, Type: typeName, ID: stringArgument(args, "prefix"), values: map[string]cty.Value{"config": args}})
	}
	return args, err
}

func (s *server) ValidateListResourceConfig(
	_ context.Context, req *tfprotov6.ValidateListResourceConfigRequest,
) (*tfprotov6.ValidateListResourceConfigResponse, error) {
	args, err := listArguments("ValidateListResourceConfig", req.TypeName, req.Config)
	if err != nil {
		return nil, err
	}
	return &tfprotov6.ValidateListResourceConfigResponse{Diagnostics: judged(args, "prefix")}, nil
}

// ListResource finds the stored objects, in the order of their ids. It minds the limit only as far
// as the client reads no further.
func (s *server) ListResource(ctx context.Context, req *tfprotov6.ListResourceRequest) (*tfprotov6.ListResourceServerStream, error) {
	args, err := listArguments("ListResource", req.TypeName, req.Config)
	if err != nil {
		return nil, err
	}
	t, err := s.resourceType(req.TypeName)
	if err != nil {
		return nil, err
	}
	whole := req.IncludeResource || ctx.Value(wholeObjects{}) == true
	return &tfprotov6.ListResourceServerStream{Results: func(yield func(tfprotov6.ListResourceResult) bool) {
		if message := stringArgument(args, "warn"); message != "" {
			warning := &tfprotov6.Diagnostic{Severity: tfprotov6.DiagnosticSeverityWarning, Summary: "Listing warned", Detail: message}
			if !yield(tfprotov6.ListResourceResult{Diagnostics: []*tfprotov6.Diagnostic{warning}}) {
				return
			}
		}
		more := true
		err := s.list(ctx, args, func(id string) (bool, error) {
			found, err := s.listed(t, id, whole)
			more = found == nil || yield(*found)
			return more, err
		})
		if !more {
			return
		}
		if err == nil {
			err = failure(phaseList, args)
		}
		if err != nil {
			yield(tfprotov6.ListResourceResult{Diagnostics: []*tfprotov6.Diagnostic{errorDiagnostic("Listing failed", err)}})
		}
	}}, nil
}

// list calls a function for the ids of stored objects, until it returns false.
func (s *server) list(ctx context.Context, args cty.Value, found func(id string) (bool, error)) error {
	if err := s.disturb(ctx, phaseList, args); err != nil {
		return err
	}
	if s.config.unknown {
		return errConfigUnknown
	}
	if s.config.store == nil {
		return errNoStore
	}
	ids, err := s.config.store.List()
	if err != nil {
		return err
	}
	for _, id := range ids {
		if !strings.HasPrefix(id, stringArgument(args, "prefix")) {
			continue
		}
		if more, err := found(id); err != nil || !more {
			return err
		}
	}
	return nil
}

// listed returns a stored object as it is listed; nil if it is of another type.
func (s *server) listed(t *resourceType, id string, whole bool) (*tfprotov6.ListResourceResult, error) {
	stored, err := s.config.store.Get(id)
	if err != nil || stored.Type != t.name {
		return nil, err
	}
	obj, err := t.overlay(t.emptyObject(), stored.Values)
	if err != nil {
		return nil, err
	}
	result := &tfprotov6.ListResourceResult{DisplayName: fmt.Sprintf("Object %s", id)}
	if result.Identity, err = t.identityOf(obj); err != nil {
		return nil, err
	}
	if whole {
		result.Resource, err = encode(obj, t.ty)
	}
	return result, err
}
