// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package testprovider

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"
)

const dataSourceName = "fake_data"

func dataSourceSchema() *tfprotov6.Schema {
	return schemaOf(nil,
		attribute("id", tftypes.String, required),
		attribute("value", tftypes.String, computed),
		attribute("region", tftypes.String, computed),
	)
}

// dataSources returns the schemas of all data sources.
func dataSources() map[string]*tfprotov6.Schema {
	all := map[string]*tfprotov6.Schema{dataSourceName: dataSourceSchema()}
	for name, source := range fileSources() {
		all[name] = source.schema
	}
	return all
}

// dataSourceNames returns their names, sorted.
func dataSourceNames() []tfprotov6.DataSourceMetadata {
	var names []tfprotov6.DataSourceMetadata
	for _, name := range slices.Sorted(maps.Keys(dataSources())) {
		names = append(names, tfprotov6.DataSourceMetadata{TypeName: name})
	}
	return names
}

func (s *server) ValidateDataResourceConfig(
	_ context.Context, req *tfprotov6.ValidateDataResourceConfigRequest,
) (*tfprotov6.ValidateDataResourceConfigResponse, error) {
	record(Call{RPC: "ValidateDataResourceConfig", Type: req.TypeName})
	if _, ok := fileSources()[req.TypeName]; ok {
		return &tfprotov6.ValidateDataResourceConfigResponse{}, nil
	}
	args, err := decode(req.Config, valueType(dataSourceSchema().ValueType()))
	if err != nil {
		return nil, err
	}
	return &tfprotov6.ValidateDataResourceConfigResponse{Diagnostics: judged(args, "id")}, nil
}

func (s *server) ReadDataSource(ctx context.Context, req *tfprotov6.ReadDataSourceRequest) (*tfprotov6.ReadDataSourceResponse, error) {
	if source, ok := fileSources()[req.TypeName]; ok {
		return s.readFileSource(ctx, source, req)
	}
	ty := valueType(dataSourceSchema().ValueType())
	args, err := decode(req.Config, ty)
	if err != nil {
		return nil, err
	}
	id := stringArgument(args, "id")
	record(Call{RPC: "ReadDataSource", Type: req.TypeName, ID: id, values: map[string]cty.Value{"config": args}})

	resp := new(tfprotov6.ReadDataSourceResponse)
	if s.config.unknown && req.ClientCapabilities != nil && req.ClientCapabilities.DeferralAllowed {
		unread := cty.ObjectVal(map[string]cty.Value{
			"id": args.GetAttr("id"), "value": cty.UnknownVal(cty.String), "region": cty.UnknownVal(cty.String),
		})
		resp.Deferred = &tfprotov6.Deferred{Reason: tfprotov6.DeferredReasonProviderConfigUnknown}
		resp.State, err = encode(unread, ty)
		return resp, err
	}

	read, err := s.readData(ctx, id)
	if err != nil {
		resp.Diagnostics = append(resp.Diagnostics, errorDiagnostic("Reading failed", err))
		return resp, nil
	}
	resp.State, err = encode(read, ty)
	return resp, err
}

// readData returns the data source's result for the object with the given id.
func (s *server) readData(ctx context.Context, id string) (cty.Value, error) {
	if s.config.unknown {
		return cty.NilVal, errConfigUnknown
	}
	if s.config.store == nil {
		return cty.NilVal, errNoStore
	}
	if err := s.disturb(ctx, phaseRead, cty.EmptyObjectVal); err != nil {
		return cty.NilVal, err
	}
	obj, err := s.config.store.Get(id)
	if err != nil {
		return cty.NilVal, err
	}
	value := cty.NullVal(cty.String)
	if raw, ok := obj.Values["value"]; ok {
		if value, err = ctyjson.Unmarshal(raw, cty.String); err != nil {
			return cty.NilVal, fmt.Errorf("reading the value of object %q: %w", id, err)
		}
	}
	return cty.ObjectVal(map[string]cty.Value{
		"id":     cty.StringVal(obj.ID),
		"value":  value,
		"region": stringOrNull(obj.Region),
	}), nil
}

func stringOrNull(s string) cty.Value {
	if s == "" {
		return cty.NullVal(cty.String)
	}
	return cty.StringVal(s)
}
