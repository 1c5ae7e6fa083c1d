// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package schematest

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"
	"github.com/zclconf/go-cty/cty/msgpack"

	"github.com/cairnstacks/cairn/internal/providers/schema"
)

// echoServer serves the provider. Methods that terraform does not call are missing.
type echoServer struct {
	tfprotov6.ProviderServer
	echo *Echo
}

func (s *echoServer) GetProviderSchema(context.Context, *tfprotov6.GetProviderSchemaRequest) (*tfprotov6.GetProviderSchemaResponse, error) {
	response := &tfprotov6.GetProviderSchemaResponse{
		Provider:          &tfprotov6.Schema{Block: &tfprotov6.SchemaBlock{}},
		ResourceSchemas:   map[string]*tfprotov6.Schema{},
		DataSourceSchemas: map[string]*tfprotov6.Schema{},
	}
	for name, block := range s.echo.Resources {
		response.ResourceSchemas[name] = &tfprotov6.Schema{Block: wireBlock(block)}
	}
	for name, block := range s.echo.Data {
		response.DataSourceSchemas[name] = &tfprotov6.Schema{Block: wireBlock(block)}
	}
	return response, nil
}

func (s *echoServer) GetResourceIdentitySchemas(
	context.Context, *tfprotov6.GetResourceIdentitySchemasRequest,
) (*tfprotov6.GetResourceIdentitySchemasResponse, error) {
	return &tfprotov6.GetResourceIdentitySchemasResponse{}, nil
}

func (s *echoServer) ValidateProviderConfig(
	_ context.Context, request *tfprotov6.ValidateProviderConfigRequest,
) (*tfprotov6.ValidateProviderConfigResponse, error) {
	return &tfprotov6.ValidateProviderConfigResponse{PreparedConfig: request.Config}, nil
}

func (s *echoServer) ConfigureProvider(context.Context, *tfprotov6.ConfigureProviderRequest) (*tfprotov6.ConfigureProviderResponse, error) {
	return &tfprotov6.ConfigureProviderResponse{}, nil
}

func (s *echoServer) StopProvider(context.Context, *tfprotov6.StopProviderRequest) (*tfprotov6.StopProviderResponse, error) {
	return &tfprotov6.StopProviderResponse{}, nil
}

func (s *echoServer) ValidateResourceConfig(
	_ context.Context, request *tfprotov6.ValidateResourceConfigRequest,
) (*tfprotov6.ValidateResourceConfigResponse, error) {
	config, err := decode(request.Config, s.echo.Resources[request.TypeName])
	if err != nil {
		return nil, err
	}
	s.record(Call{Method: "validate", Type: request.TypeName, Config: config})
	response := &tfprotov6.ValidateResourceConfigResponse{}
	if s.echo.Diagnose != nil {
		response.Diagnostics = s.echo.Diagnose(request.TypeName)
	}
	return response, nil
}

func (s *echoServer) ValidateDataResourceConfig(
	context.Context, *tfprotov6.ValidateDataResourceConfigRequest,
) (*tfprotov6.ValidateDataResourceConfigResponse, error) {
	return &tfprotov6.ValidateDataResourceConfigResponse{}, nil
}

func (s *echoServer) UpgradeResourceState(
	_ context.Context, request *tfprotov6.UpgradeResourceStateRequest,
) (*tfprotov6.UpgradeResourceStateResponse, error) {
	block := s.echo.Resources[request.TypeName]
	value, err := ctyjson.Unmarshal(request.RawState.JSON, block.Type())
	if err != nil {
		return nil, err
	}
	encoded, err := encode(value, block)
	return &tfprotov6.UpgradeResourceStateResponse{UpgradedState: encoded}, err
}

func (s *echoServer) ReadResource(_ context.Context, request *tfprotov6.ReadResourceRequest) (*tfprotov6.ReadResourceResponse, error) {
	return &tfprotov6.ReadResourceResponse{NewState: request.CurrentState, Private: request.Private}, nil
}

func (s *echoServer) ImportResourceState(
	_ context.Context, request *tfprotov6.ImportResourceStateRequest,
) (*tfprotov6.ImportResourceStateResponse, error) {
	object, err := encode(s.echo.Imports[request.TypeName], s.echo.Resources[request.TypeName])
	imported := &tfprotov6.ImportedResource{TypeName: request.TypeName, State: object}
	return &tfprotov6.ImportResourceStateResponse{ImportedResources: []*tfprotov6.ImportedResource{imported}}, err
}

func (s *echoServer) ReadDataSource(
	_ context.Context, request *tfprotov6.ReadDataSourceRequest,
) (*tfprotov6.ReadDataSourceResponse, error) {
	return &tfprotov6.ReadDataSourceResponse{State: request.Config}, nil
}

func (s *echoServer) PlanResourceChange(
	_ context.Context, request *tfprotov6.PlanResourceChangeRequest,
) (*tfprotov6.PlanResourceChangeResponse, error) {
	call, err := s.call("plan", request.TypeName, request.PriorState, request.Config, request.ProposedNewState, nil)
	if err != nil {
		return nil, err
	}
	planned := call.Proposed
	if s.echo.Plan != nil && !planned.IsNull() {
		planned = s.echo.Plan(call)
	}
	encoded, err := encode(planned, s.echo.Resources[request.TypeName])
	//nolint:staticcheck // legacy providers set it
	response := &tfprotov6.PlanResourceChangeResponse{PlannedState: encoded, UnsafeToUseLegacyTypeSystem: s.echo.Legacy}
	for _, name := range s.echo.RequiresReplace {
		response.RequiresReplace = append(response.RequiresReplace, tftypes.NewAttributePath().WithAttributeName(name))
	}
	return response, err
}

func (s *echoServer) ApplyResourceChange(
	_ context.Context, request *tfprotov6.ApplyResourceChangeRequest,
) (*tfprotov6.ApplyResourceChangeResponse, error) {
	call, err := s.call("apply", request.TypeName, request.PriorState, request.Config, nil, request.PlannedState)
	if err != nil {
		return nil, err
	}
	actual := call.Planned
	if s.echo.Apply != nil && !actual.IsNull() {
		actual = s.echo.Apply(call)
	}
	encoded, err := encode(actual, s.echo.Resources[request.TypeName])
	//nolint:staticcheck // legacy providers set it
	return &tfprotov6.ApplyResourceChangeResponse{NewState: encoded, UnsafeToUseLegacyTypeSystem: s.echo.Legacy}, err
}

func (s *echoServer) record(call Call) {
	s.echo.calls.Lock()
	defer s.echo.calls.Unlock()
	s.echo.calls.all = append(s.echo.calls.all, call)
}

// call decodes and records a request.
func (s *echoServer) call(method, typeName string, prior, config, proposed, planned *tfprotov6.DynamicValue) (Call, error) {
	call := Call{Method: method, Type: typeName}
	for _, one := range []struct {
		from *tfprotov6.DynamicValue
		to   *cty.Value
	}{{prior, &call.Prior}, {config, &call.Config}, {proposed, &call.Proposed}, {planned, &call.Planned}} {
		if one.from == nil {
			continue
		}
		var err error
		if *one.to, err = decode(one.from, s.echo.Resources[typeName]); err != nil {
			return call, err
		}
	}
	s.record(call)
	return call, nil
}

func decode(encoded *tfprotov6.DynamicValue, block *schema.Block) (cty.Value, error) {
	return msgpack.Unmarshal(encoded.MsgPack, block.Type())
}

func encode(value cty.Value, block *schema.Block) (*tfprotov6.DynamicValue, error) {
	encoded, err := msgpack.Marshal(value, block.Type())
	return &tfprotov6.DynamicValue{MsgPack: encoded}, err
}

var blockNestings = map[schema.Nesting]tfprotov6.SchemaNestedBlockNestingMode{
	schema.Single: tfprotov6.SchemaNestedBlockNestingModeSingle,
	schema.Group:  tfprotov6.SchemaNestedBlockNestingModeGroup,
	schema.List:   tfprotov6.SchemaNestedBlockNestingModeList,
	schema.Set:    tfprotov6.SchemaNestedBlockNestingModeSet,
	schema.Map:    tfprotov6.SchemaNestedBlockNestingModeMap,
}

var objectNestings = map[schema.Nesting]tfprotov6.SchemaObjectNestingMode{
	schema.Single: tfprotov6.SchemaObjectNestingModeSingle,
	schema.List:   tfprotov6.SchemaObjectNestingModeList,
	schema.Set:    tfprotov6.SchemaObjectNestingModeSet,
	schema.Map:    tfprotov6.SchemaObjectNestingModeMap,
}

func wireBlock(block *schema.Block) *tfprotov6.SchemaBlock {
	wire := &tfprotov6.SchemaBlock{Attributes: wireAttributes(block.Attributes), Deprecated: block.Deprecated}
	for _, nested := range block.Blocks {
		wire.BlockTypes = append(wire.BlockTypes, &tfprotov6.SchemaNestedBlock{
			TypeName: nested.Name,
			Block:    wireBlock(nested.Block),
			Nesting:  blockNestings[nested.Nesting],
			MinItems: nested.MinItems,
			MaxItems: nested.MaxItems,
		})
	}
	return wire
}

func wireAttributes(attributes []*schema.Attribute) []*tfprotov6.SchemaAttribute {
	var all []*tfprotov6.SchemaAttribute
	for _, attr := range attributes {
		wire := &tfprotov6.SchemaAttribute{
			Name: attr.Name, Required: attr.Required, Optional: attr.Optional, Computed: attr.Computed,
			Sensitive: attr.Sensitive, WriteOnly: attr.WriteOnly, Deprecated: attr.Deprecated,
		}
		if attr.Nested != nil {
			wire.NestedType = &tfprotov6.SchemaObject{
				Attributes: wireAttributes(attr.Nested.Attributes),
				Nesting:    objectNestings[attr.Nested.Nesting],
			}
		} else {
			wire.Type = wireType(attr.Type)
		}
		all = append(all, wire)
	}
	return all
}

func wireType(ty cty.Type) tftypes.Type {
	encoded, err := json.Marshal(ty)
	if err != nil {
		panic(fmt.Sprintf("type %#v: %v", ty, err))
	}
	parsed, err := tftypes.ParseJSONType(encoded) //nolint:staticcheck // there is no other way from JSON
	if err != nil {
		panic(fmt.Sprintf("type %#v: %v", ty, err))
	}
	return parsed
}
