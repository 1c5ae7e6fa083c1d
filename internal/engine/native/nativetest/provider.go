// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package nativetest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"github.com/cairnstacks/cairn/internal/providers/provider"
	"github.com/cairnstacks/cairn/internal/providers/schema"
	"github.com/cairnstacks/cairn/stackaddrs"
)

// Provider is the fake provider. Its objects exist in states only. Each hook is given a request
// together with the fake's own answer, and returns the final one. The hooks must be safe for
// concurrent use, and must not be changed while the provider is used.
type Provider struct {
	Hooks

	schema *schema.Provider
	mu     struct {
		sync.Mutex
		calls []string
	}
}

// Hooks change the answers of the fake provider. Nil ones change nothing.
type Hooks struct {
	OnConfigure      func(provider.ConfigureRequest) provider.Diagnostics
	OnValidate       func(mode stackaddrs.ResourceMode, typeName string, config cty.Value) provider.Diagnostics
	OnUpgradeState   func(provider.UpgradeStateRequest, cty.Value) (cty.Value, provider.Diagnostics)
	OnRead           func(provider.ReadRequest, provider.ReadResponse) provider.ReadResponse
	OnPlan           func(provider.PlanRequest, provider.PlanResponse) provider.PlanResponse
	OnApply          func(provider.ApplyRequest, provider.ApplyResponse) provider.ApplyResponse
	OnImport         func(provider.ImportRequest, provider.ImportResponse) provider.ImportResponse
	OnMove           func(provider.MoveRequest, provider.MoveResponse) provider.MoveResponse
	OnGenerateConfig func(typeName string, object cty.Value) (cty.Value, provider.Diagnostics)
	OnReadData       func(provider.ReadDataRequest, provider.ReadDataResponse) provider.ReadDataResponse
	OnOpenEphemeral  func(provider.OpenEphemeralRequest, provider.OpenEphemeralResponse) provider.OpenEphemeralResponse
	OnRenewEphemeral func(provider.EphemeralRequest, provider.RenewEphemeralResponse) provider.RenewEphemeralResponse
	OnCloseEphemeral func(provider.EphemeralRequest) provider.Diagnostics
	OnPlanAction     func(provider.PlanActionRequest, provider.PlanActionResponse) provider.PlanActionResponse
	OnInvokeAction   func(context.Context, provider.InvokeActionRequest) provider.Diagnostics
	OnList           func(provider.ListRequest) provider.ListResponse
}

var _ provider.Provider = (*Provider)(nil)

// NewProvider returns a fake provider with the schema of [Schema]. Tests may change its schema
// before it is used.
func NewProvider() *Provider { return &Provider{schema: Schema()} }

// Calls returns the calls so far that are about objects, as METHOD TYPE NAME, with the attribute
// name of the prior object or the configuration. With calls at the same time, their order is not
// always the same.
func (p *Provider) Calls() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.mu.calls)
}

// called notes a call about the first of some objects that is one.
func (p *Provider) called(method, typeName string, objects ...cty.Value) {
	call := method + " " + typeName
	for _, object := range objects {
		if name := attribute(object, "name"); name != cty.NilVal && name.IsKnown() && !name.IsNull() {
			call += " " + name.AsString()
			break
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.mu.calls = append(p.mu.calls, call)
}

// attribute returns an attribute of an object, or [cty.NilVal].
func attribute(object cty.Value, name string) cty.Value {
	if object == cty.NilVal || object.IsNull() || !object.IsKnown() || !object.Type().HasAttribute(name) {
		return cty.NilVal
	}
	return object.GetAttr(name)
}

func hook[Request, Response any](f func(Request, Response) Response, request Request, response Response) Response {
	if f == nil {
		return response
	}
	return f(request, response)
}

// Schema implements [provider.Provider].
func (p *Provider) Schema() *schema.Provider { return p.schema }

// ValidateConfig implements [provider.Provider].
func (p *Provider) ValidateConfig(context.Context, cty.Value) provider.Diagnostics { return nil }

// Configure implements [provider.Provider].
func (p *Provider) Configure(_ context.Context, req provider.ConfigureRequest) provider.Diagnostics {
	if p.OnConfigure == nil {
		return nil
	}
	return p.OnConfigure(req)
}

// ValidateResource implements [provider.Provider].
func (p *Provider) ValidateResource(_ context.Context, mode stackaddrs.ResourceMode, typeName string,
	config cty.Value,
) provider.Diagnostics {
	p.called("validate", typeName, config)
	if p.OnValidate == nil {
		return nil
	}
	return p.OnValidate(mode, typeName, config)
}

// UpgradeState implements [provider.Provider].
func (p *Provider) UpgradeState(_ context.Context, req provider.UpgradeStateRequest) (cty.Value, provider.Diagnostics) {
	object, err := ctyjson.Unmarshal(req.JSON, p.schema.Managed[req.Type].Block.Type())
	if err != nil {
		return cty.NilVal, provider.Errorf("Invalid stored object", "%s: %s.", req.Type, err)
	}
	p.called("upgrade", req.Type, object)
	if p.OnUpgradeState == nil {
		return object, nil
	}
	return p.OnUpgradeState(req, object)
}

// UpgradeIdentity implements [provider.Provider].
func (p *Provider) UpgradeIdentity(_ context.Context, req provider.UpgradeIdentityRequest) (cty.Value, provider.Diagnostics) {
	return cty.NilVal, provider.Errorf("No other version", "Identities of %s have one version.", req.Type)
}

// Read implements [provider.Provider].
func (p *Provider) Read(_ context.Context, req provider.ReadRequest) provider.ReadResponse {
	p.called("read", req.Type, req.Current)
	return hook(p.OnRead, req, provider.ReadResponse{New: req.Current, Private: req.Private, Identity: p.identity(req.Type, req.Current)})
}

// identity returns the identity of an object, if it has one.
func (p *Provider) identity(typeName string, object cty.Value) cty.Value {
	id := attribute(object, "id")
	if p.schema.Identities[typeName] == nil || id == cty.NilVal {
		return cty.NilVal
	}
	return cty.ObjectVal(map[string]cty.Value{"id": id})
}

// Plan implements [provider.Provider].
func (p *Provider) Plan(_ context.Context, req provider.PlanRequest) provider.PlanResponse {
	p.called("plan", req.Type, req.Prior, req.Config)
	return hook(p.OnPlan, req, p.plan(req))
}

func (p *Provider) plan(req provider.PlanRequest) provider.PlanResponse {
	response := provider.PlanResponse{Planned: req.Proposed, Private: req.PriorPrivate, Identity: req.PriorIdentity}
	if req.Proposed.IsNull() {
		return response
	}
	values := req.Proposed.AsValueMap()
	values["token"] = cty.NullVal(cty.String) // write-only
	block := p.schema.Managed[req.Type].Block
	for _, attr := range block.Attributes {
		if attr.Computed && values[attr.Name].IsNull() {
			values[attr.Name] = cty.UnknownVal(attr.Type)
		}
	}
	for _, nested := range block.Blocks {
		if nested.Block.Computed && values[nested.Name].IsNull() {
			values[nested.Name] = cty.UnknownVal(nested.ValueType())
		}
	}
	response.Planned = cty.ObjectVal(values)
	if req.Prior.IsNull() {
		response.Identity = cty.NilVal
	} else if !values["force"].RawEquals(req.Prior.GetAttr("force")) {
		response.RequiresReplace = []cty.Path{cty.GetAttrPath("force")}
	}
	return response
}

// Apply implements [provider.Provider]. Unknown attributes become "made", or 1.
func (p *Provider) Apply(_ context.Context, req provider.ApplyRequest) provider.ApplyResponse {
	p.called("apply", req.Type, req.Prior, req.Config)
	response := provider.ApplyResponse{New: req.Planned, Private: req.Private}
	if !req.Planned.IsNull() {
		made := func(_ cty.Path, value cty.Value) (cty.Value, error) {
			switch {
			case value.IsKnown():
				return value, nil
			case value.Type() == cty.Number:
				return cty.NumberIntVal(1), nil
			default:
				return cty.StringVal("made"), nil
			}
		}
		response.New, _ = cty.Transform(req.Planned, made) //nolint:errcheck // the function returns none
		response.Identity = p.identity(req.Type, response.New)
	}
	return hook(p.OnApply, req, response)
}

// Import implements [provider.Provider]. There is an object for each ID, with that as its name.
func (p *Provider) Import(_ context.Context, req provider.ImportRequest) provider.ImportResponse {
	id := req.ID
	if given := attribute(req.Identity, "id"); given != cty.NilVal {
		id = given.AsString()
	}
	values := p.schema.Managed[req.Type].Block.Empty().AsValueMap()
	values["id"], values["name"], values["size"] = cty.StringVal(id), cty.StringVal(id), cty.NumberIntVal(1)
	object := cty.ObjectVal(values)
	p.called("import", req.Type, object)
	return hook(p.OnImport, req, provider.ImportResponse{
		Objects: []provider.ImportedObject{{Type: req.Type, Object: object, Identity: p.identity(req.Type, object)}},
	})
}

// Move implements [provider.Provider]: all types can become each other.
func (p *Provider) Move(_ context.Context, req provider.MoveRequest) provider.MoveResponse {
	source, err := ctyjson.ImpliedType(req.SourceJSON)
	if err != nil {
		return provider.MoveResponse{Diagnostics: provider.Errorf("Invalid stored object", "%s: %s.", req.SourceType, err)}
	}
	before, err := ctyjson.Unmarshal(req.SourceJSON, source)
	if err != nil {
		return provider.MoveResponse{Diagnostics: provider.Errorf("Invalid stored object", "%s: %s.", req.SourceType, err)}
	}
	values := p.schema.Managed[req.TargetType].Block.Empty().AsValueMap()
	for _, name := range []string{"id", "name"} {
		if value := attribute(before, name); value != cty.NilVal && value.Type() == cty.String {
			values[name] = value
		}
	}
	values["size"] = cty.NumberIntVal(1)
	object := cty.ObjectVal(values)
	p.called("move "+req.SourceType, req.TargetType, object)
	return hook(p.OnMove, req, provider.MoveResponse{Object: object, Private: req.SourcePrivate, Identity: p.identity(req.TargetType, object)})
}

// GenerateConfig implements [provider.Provider].
func (p *Provider) GenerateConfig(_ context.Context, typeName string, object cty.Value) (cty.Value, provider.Diagnostics) {
	p.called("generate", typeName, object)
	if p.OnGenerateConfig == nil {
		return cty.NilVal, provider.Errorf("No configuration", "The provider generates none.")
	}
	return p.OnGenerateConfig(typeName, object)
}

// ReadData implements [provider.Provider]. The result is "read", followed by the name.
func (p *Provider) ReadData(_ context.Context, req provider.ReadDataRequest) provider.ReadDataResponse {
	p.called("readdata", req.Type, req.Config)
	return hook(p.OnReadData, req, provider.ReadDataResponse{State: completed(req.Config, "result", "read")})
}

// completed sets an attribute of a configuration to a word, followed by the name.
func completed(config cty.Value, name, word string) cty.Value {
	values := config.AsValueMap()
	if given := values["name"]; !given.IsNull() {
		word = strings.Join([]string{word, given.AsString()}, " ")
	}
	values[name] = cty.StringVal(word)
	return cty.ObjectVal(values)
}

// OpenEphemeral implements [provider.Provider]. The value is "open", followed by the name.
func (p *Provider) OpenEphemeral(_ context.Context, req provider.OpenEphemeralRequest) provider.OpenEphemeralResponse {
	p.called("open", req.Type, req.Config)
	return hook(p.OnOpenEphemeral, req, provider.OpenEphemeralResponse{
		Result:  completed(req.Config, "value", "open"),
		Private: []byte("opened"),
	})
}

// RenewEphemeral implements [provider.Provider].
func (p *Provider) RenewEphemeral(_ context.Context, req provider.EphemeralRequest) provider.RenewEphemeralResponse {
	p.called("renew", req.Type)
	return hook(p.OnRenewEphemeral, req, provider.RenewEphemeralResponse{Private: req.Private})
}

// CloseEphemeral implements [provider.Provider].
func (p *Provider) CloseEphemeral(_ context.Context, req provider.EphemeralRequest) provider.Diagnostics {
	p.called("close", req.Type)
	if p.OnCloseEphemeral == nil {
		return nil
	}
	return p.OnCloseEphemeral(req)
}

// CallFunction implements [provider.Provider]: there are no functions.
func (p *Provider) CallFunction(_ context.Context, name string, _ []cty.Value) (cty.Value, error) {
	return cty.NilVal, fmt.Errorf("no function %q", name)
}

// ValidateAction implements [provider.Provider].
func (p *Provider) ValidateAction(_ context.Context, typeName string, config cty.Value) provider.Diagnostics {
	p.called("validateaction", typeName, config)
	return nil
}

// PlanAction implements [provider.Provider].
func (p *Provider) PlanAction(_ context.Context, req provider.PlanActionRequest) provider.PlanActionResponse {
	p.called("planaction", req.Type, req.Config)
	return hook(p.OnPlanAction, req, provider.PlanActionResponse{})
}

// InvokeAction implements [provider.Provider]. It reports one step of progress.
func (p *Provider) InvokeAction(ctx context.Context, req provider.InvokeActionRequest) provider.Diagnostics {
	p.called("invoke", req.Type, req.Config)
	req.Progress("half done")
	if p.OnInvokeAction == nil {
		return nil
	}
	return p.OnInvokeAction(ctx, req)
}

// ValidateList implements [provider.Provider].
func (p *Provider) ValidateList(_ context.Context, req provider.ValidateListRequest) provider.Diagnostics {
	p.called("validatelist", req.Type, req.Config)
	return nil
}

// List implements [provider.Provider]: without a hook it finds nothing.
func (p *Provider) List(_ context.Context, req provider.ListRequest) provider.ListResponse {
	p.called("list", req.Type, req.Config)
	if p.OnList == nil {
		return provider.ListResponse{}
	}
	return p.OnList(req)
}

// Stop implements [provider.Provider].
func (p *Provider) Stop(context.Context) error { return nil }
