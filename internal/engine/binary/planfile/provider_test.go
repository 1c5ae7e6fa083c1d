// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package planfile

import (
	"context"
	"maps"
	"os"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/datasource"
	dsschema "github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	fwpath "github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/provider"
	"github.com/hashicorp/terraform-plugin-framework/providerserver"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// serveEnv makes the test binary a provider. The terraform process passes its environment on.
const serveEnv = "CAIRN_PLANFILE_TEST_PROVIDER"

// driftEnv makes the provider report another value for the attribute "name" of everything it reads.
const driftEnv = "CAIRN_PLANFILE_TEST_DRIFT"

func serveProvider() {
	err := providerserver.Serve(context.Background(), func() provider.Provider { return shapesProvider{} },
		providerserver.ServeOpts{Address: "registry.terraform.io/cairn/shapes"})
	if err != nil {
		panic(err) // terraform shows it
	}
}

// shapesProvider has one resource type and one data source, with every shape that a schema can give
// to a value.
type shapesProvider struct{}

func (shapesProvider) Metadata(_ context.Context, _ provider.MetadataRequest, resp *provider.MetadataResponse) {
	resp.TypeName = "shapes"
}

func (shapesProvider) Schema(context.Context, provider.SchemaRequest, *provider.SchemaResponse) {}

func (shapesProvider) Configure(context.Context, provider.ConfigureRequest, *provider.ConfigureResponse) {
}

func (shapesProvider) Resources(context.Context) []func() resource.Resource {
	return []func() resource.Resource{func() resource.Resource { return shapesThing{} }}
}

func (shapesProvider) DataSources(context.Context) []func() datasource.DataSource {
	return []func() datasource.DataSource{func() datasource.DataSource { return shapesInfo{} }}
}

type shapesThing struct{}

func (shapesThing) Metadata(_ context.Context, _ resource.MetadataRequest, resp *resource.MetadataResponse) {
	resp.TypeName = "shapes_thing"
}

func (shapesThing) Schema(_ context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	secretive := func() map[string]schema.Attribute {
		return map[string]schema.Attribute{
			"key":    schema.StringAttribute{Optional: true},
			"secret": schema.StringAttribute{Optional: true, Sensitive: true},
		}
	}
	nested := schema.NestedBlockObject{
		Attributes: secretive(),
		Blocks: map[string]schema.Block{
			"inner": schema.ListNestedBlock{NestedObject: schema.NestedBlockObject{Attributes: secretive()}},
		},
	}
	resp.Schema = schema.Schema{
		Attributes: map[string]schema.Attribute{
			"id": schema.StringAttribute{
				Computed: true, PlanModifiers: []planmodifier.String{stringplanmodifier.UseStateForUnknown()},
			},
			"name":     schema.StringAttribute{Optional: true, Computed: true},
			"zone":     schema.StringAttribute{Optional: true, PlanModifiers: []planmodifier.String{stringplanmodifier.RequiresReplace()}},
			"number":   schema.NumberAttribute{Optional: true},
			"float":    schema.Float64Attribute{Optional: true},
			"flag":     schema.BoolAttribute{Optional: true},
			"password": schema.StringAttribute{Optional: true, Sensitive: true},
			"token":    schema.StringAttribute{Computed: true, Sensitive: true},
			"list":     schema.ListAttribute{Optional: true, ElementType: types.StringType},
			"set":      schema.SetAttribute{Optional: true, ElementType: types.StringType},
			"map":      schema.MapAttribute{Optional: true, ElementType: types.NumberType},
			"hidden":   schema.MapAttribute{Optional: true, Sensitive: true, ElementType: types.StringType},
			"computed": schema.MapAttribute{Computed: true, ElementType: types.StringType},
			"matrix":   schema.ListAttribute{Optional: true, ElementType: types.ListType{ElemType: types.NumberType}},
			"object": schema.ObjectAttribute{Optional: true, AttributeTypes: map[string]attr.Type{
				"a": types.StringType, "b": types.NumberType,
			}},
			"any":         schema.DynamicAttribute{Optional: true},
			"single":      schema.SingleNestedAttribute{Optional: true, Attributes: secretive()},
			"nested_list": schema.ListNestedAttribute{Optional: true, NestedObject: schema.NestedAttributeObject{Attributes: secretive()}},
			"nested_set":  schema.SetNestedAttribute{Optional: true, NestedObject: schema.NestedAttributeObject{Attributes: secretive()}},
			"nested_map":  schema.MapNestedAttribute{Optional: true, NestedObject: schema.NestedAttributeObject{Attributes: secretive()}},
		},
		Blocks: map[string]schema.Block{
			"one":  schema.SingleNestedBlock{Attributes: secretive()},
			"step": schema.ListNestedBlock{NestedObject: nested},
			"rule": schema.SetNestedBlock{NestedObject: nested},
		},
	}
}

func (shapesThing) Create(_ context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	raw, err := settle(req.Plan.Raw)
	if err != nil {
		resp.Diagnostics.AddError("Cannot create", err.Error())
		return
	}
	resp.State.Raw = raw
}

func (shapesThing) Read(ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse) {
	if name := os.Getenv(driftEnv); name != "" {
		resp.Diagnostics.Append(resp.State.SetAttribute(ctx, fwpath.Root("name"), name)...)
	}
}

func (shapesThing) Update(_ context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	raw, err := settle(req.Plan.Raw)
	if err != nil {
		resp.Diagnostics.AddError("Cannot update", err.Error())
		return
	}
	resp.State.Raw = raw
}

func (shapesThing) Delete(context.Context, resource.DeleteRequest, *resource.DeleteResponse) {}

func (shapesThing) ImportState(ctx context.Context, req resource.ImportStateRequest, resp *resource.ImportStateResponse) {
	resource.ImportStatePassthroughID(ctx, fwpath.Root("id"), req, resp)
}

// settle replaces unknown parts by fixed values.
func settle(v tftypes.Value) (tftypes.Value, error) {
	return tftypes.Transform(v, func(_ *tftypes.AttributePath, v tftypes.Value) (tftypes.Value, error) {
		switch {
		case v.IsKnown():
			return v, nil
		case v.Type().Is(tftypes.String):
			return tftypes.NewValue(tftypes.String, "settled"), nil
		case v.Type().Is(tftypes.Map{}):
			return tftypes.NewValue(v.Type(), map[string]tftypes.Value{}), nil
		default:
			return tftypes.NewValue(v.Type(), nil), nil
		}
	})
}

type shapesInfo struct{}

func (shapesInfo) Metadata(_ context.Context, _ datasource.MetadataRequest, resp *datasource.MetadataResponse) {
	resp.TypeName = "shapes_info"
}

func (shapesInfo) Schema(_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	resp.Schema = dsschema.Schema{Attributes: map[string]dsschema.Attribute{
		"query":  dsschema.StringAttribute{Optional: true},
		"answer": dsschema.StringAttribute{Computed: true},
		"secret": dsschema.StringAttribute{Computed: true, Sensitive: true},
	}}
}

func (shapesInfo) Read(_ context.Context, req datasource.ReadRequest, resp *datasource.ReadResponse) {
	var attrs map[string]tftypes.Value
	if err := req.Config.Raw.As(&attrs); err != nil {
		resp.Diagnostics.AddError("Cannot read", err.Error())
		return
	}
	attrs = maps.Clone(attrs)
	attrs["answer"] = tftypes.NewValue(tftypes.String, "42")
	attrs["secret"] = tftypes.NewValue(tftypes.String, "hush")
	resp.State.Raw = tftypes.NewValue(req.Config.Raw.Type(), attrs)
}
