// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package testprovider

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"
)

func (s *server) resourceType(name string) (*resourceType, error) {
	t, ok := s.types[name]
	if !ok {
		return nil, fmt.Errorf("no resource type %q", name)
	}
	return t, nil
}

func (t *resourceType) writeOnlyNames() []string {
	return t.attributeNames(func(a *tfprotov6.SchemaAttribute) bool { return a.WriteOnly })
}

// identityOf returns the identity of an object, nil for types that have none and while it is not
// known.
func (t *resourceType) identityOf(obj cty.Value) (*tfprotov6.ResourceIdentityData, error) {
	id, known := knownArgument(obj, "id")
	if t.identity == nil || !known {
		return nil, nil
	}
	identity := cty.ObjectVal(map[string]cty.Value{"id": id})
	raw, err := encode(identity, identity.Type())
	if err != nil {
		return nil, err
	}
	return &tfprotov6.ResourceIdentityData{IdentityData: raw}, nil
}

// emptyObject returns an object with nothing set: attributes null, blocks absent.
func (t *resourceType) emptyObject() cty.Value {
	return emptyContent(t.schema.Block, t.ty)
}

// overlay returns base with the attributes that values has. Members that the type does not know are
// ignored.
func (t *resourceType) overlay(base cty.Value, values map[string]json.RawMessage) (cty.Value, error) {
	attrs := base.AsValueMap()
	for name, ty := range t.ty.AttributeTypes() {
		raw, ok := values[name]
		if !ok {
			continue
		}
		v, err := ctyjson.Unmarshal(raw, ty)
		if err != nil {
			return cty.NilVal, fmt.Errorf("decoding %s: %w", name, err)
		}
		attrs[name] = v
	}
	return cty.ObjectVal(attrs), nil
}

// fromState returns the object that a state in JSON describes.
func (t *resourceType) fromState(raw *tfprotov6.RawState) (cty.Value, error) {
	if raw == nil || len(raw.JSON) == 0 {
		return cty.NilVal, errors.New("the state is not in JSON")
	}
	var values map[string]json.RawMessage
	if err := json.Unmarshal(raw.JSON, &values); err != nil {
		return cty.NilVal, fmt.Errorf("reading the state: %w", err)
	}
	return t.overlay(t.emptyObject(), values)
}

func (s *server) ValidateResourceConfig(
	_ context.Context, req *tfprotov6.ValidateResourceConfigRequest,
) (*tfprotov6.ValidateResourceConfigResponse, error) {
	record(Call{RPC: "ValidateResourceConfig", Type: req.TypeName})
	t, err := s.resourceType(req.TypeName)
	if err != nil {
		return nil, err
	}
	args, err := decode(req.Config, t.ty)
	if err != nil {
		return nil, err
	}
	return &tfprotov6.ValidateResourceConfigResponse{Diagnostics: judged(args, "value")}, nil
}

func (s *server) UpgradeResourceState(
	_ context.Context, req *tfprotov6.UpgradeResourceStateRequest,
) (*tfprotov6.UpgradeResourceStateResponse, error) {
	record(Call{RPC: "UpgradeResourceState", Type: req.TypeName})
	t, err := s.resourceType(req.TypeName)
	if err != nil {
		return nil, err
	}
	raw, err := t.upgraded(req.RawState, req.Version)
	if err != nil {
		return nil, err
	}
	obj, err := t.fromState(raw)
	if err != nil {
		return nil, err
	}
	upgraded, err := encode(obj, t.ty)
	return &tfprotov6.UpgradeResourceStateResponse{UpgradedState: upgraded}, err
}

func (s *server) UpgradeResourceIdentity(
	_ context.Context, req *tfprotov6.UpgradeResourceIdentityRequest,
) (*tfprotov6.UpgradeResourceIdentityResponse, error) {
	record(Call{RPC: "UpgradeResourceIdentity", Type: req.TypeName})
	if req.RawIdentity == nil {
		return nil, errors.New("no identity to upgrade")
	}
	identity, err := ctyjson.Unmarshal(req.RawIdentity.JSON, cty.Object(map[string]cty.Type{"id": cty.String}))
	if err != nil {
		return nil, err
	}
	raw, err := encode(identity, identity.Type())
	return &tfprotov6.UpgradeResourceIdentityResponse{
		UpgradedIdentity: &tfprotov6.ResourceIdentityData{IdentityData: raw},
	}, err
}

func (s *server) ReadResource(ctx context.Context, req *tfprotov6.ReadResourceRequest) (*tfprotov6.ReadResourceResponse, error) {
	t, err := s.resourceType(req.TypeName)
	if err != nil {
		return nil, err
	}
	current, err := decode(req.CurrentState, t.ty)
	if err != nil {
		return nil, err
	}
	record(Call{
		RPC: "ReadResource", Type: t.name, ID: idOf(current),
		values: map[string]cty.Value{"current_state": current, "private": cty.StringVal(string(req.Private))},
	})

	resp := &tfprotov6.ReadResourceResponse{
		NewState:    req.CurrentState,
		NewIdentity: req.CurrentIdentity,
		Private:     req.Private,
	}
	if s.config.unknown && req.ClientCapabilities != nil && req.ClientCapabilities.DeferralAllowed {
		resp.Deferred = &tfprotov6.Deferred{Reason: tfprotov6.DeferredReasonProviderConfigUnknown}
		return resp, nil
	}
	found, err := s.read(ctx, t, current)
	if err != nil {
		resp.Diagnostics = append(resp.Diagnostics, errorDiagnostic("Reading failed", err))
		return resp, nil
	}
	if resp.NewState, err = encode(found, t.ty); err != nil {
		return nil, err
	}
	resp.NewIdentity, err = t.identityOf(found)
	return resp, err
}

// read returns the object as the store has it, null if it is gone.
func (s *server) read(ctx context.Context, t *resourceType, current cty.Value) (cty.Value, error) {
	if s.config.unknown {
		return cty.NilVal, errConfigUnknown
	}
	if err := s.disturb(ctx, phaseRead, current); err != nil {
		return cty.NilVal, err
	}
	if err := failure(phaseRead, current); err != nil {
		return cty.NilVal, err
	}
	if s.config.store == nil {
		return readFile(t, current)
	}
	obj, err := s.config.store.Get(stringArgument(current, "id"))
	if errors.Is(err, fs.ErrNotExist) {
		return cty.NullVal(t.ty), nil
	}
	if err != nil {
		return cty.NilVal, err
	}
	return t.overlay(current, obj.Values)
}

func (s *server) ImportResourceState(
	_ context.Context, req *tfprotov6.ImportResourceStateRequest,
) (*tfprotov6.ImportResourceStateResponse, error) {
	t, err := s.resourceType(req.TypeName)
	if err != nil {
		return nil, err
	}
	id := req.ID
	if req.Identity != nil {
		identity, err := decode(req.Identity.IdentityData, cty.Object(map[string]cty.Type{"id": cty.String}))
		if err != nil {
			return nil, err
		}
		id = stringArgument(identity, "id")
	}
	record(Call{RPC: "ImportResourceState", Type: t.name, ID: id})

	resp := new(tfprotov6.ImportResourceStateResponse)
	obj, err := s.importable(t, id)
	if err != nil {
		resp.Diagnostics = append(resp.Diagnostics, errorDiagnostic("Importing failed", err))
		return resp, nil
	}
	imported := &tfprotov6.ImportedResource{TypeName: t.name}
	if imported.State, err = encode(obj, t.ty); err != nil {
		return nil, err
	}
	if imported.Identity, err = t.identityOf(obj); err != nil {
		return nil, err
	}
	resp.ImportedResources = append(resp.ImportedResources, imported)
	return resp, nil
}

// importable returns the stored object with the given id.
func (s *server) importable(t *resourceType, id string) (cty.Value, error) {
	if s.config.unknown {
		return cty.NilVal, errConfigUnknown
	}
	if s.config.store == nil {
		return cty.NilVal, errNoStore
	}
	obj, err := s.config.store.Get(id)
	if err != nil {
		return cty.NilVal, err
	}
	if obj.Type != t.name {
		return cty.NilVal, fmt.Errorf("object %q is a %s, not a %s", id, obj.Type, t.name)
	}
	return t.overlay(t.emptyObject(), obj.Values)
}

func (s *server) MoveResourceState(
	_ context.Context, req *tfprotov6.MoveResourceStateRequest,
) (*tfprotov6.MoveResourceStateResponse, error) {
	record(Call{RPC: "MoveResourceState", Type: req.TargetTypeName})
	t, err := s.resourceType(req.TargetTypeName)
	if err != nil {
		return nil, err
	}
	resp := &tfprotov6.MoveResourceStateResponse{TargetPrivate: req.SourcePrivate}
	if req.SourceTypeName != t.moveFrom || !strings.HasSuffix(req.SourceProviderAddress, "/cairnstacks/fake") {
		err := fmt.Errorf("a %s of provider %s cannot become a %s", req.SourceTypeName, req.SourceProviderAddress, t.name)
		resp.Diagnostics = append(resp.Diagnostics, errorDiagnostic("Unsupported move", err))
		return resp, nil
	}
	moved, err := t.fromState(req.SourceState)
	if err != nil {
		return nil, err
	}
	if t.has("deferred") {
		moved = withAttributes(moved, map[string]cty.Value{"deferred": cty.False})
	}
	if resp.TargetState, err = encode(moved, t.ty); err != nil {
		return nil, err
	}
	resp.TargetIdentity, err = t.identityOf(moved)
	return resp, err
}

// GenerateResourceConfig returns the arguments that describe an existing object.
func (s *server) GenerateResourceConfig(
	_ context.Context, req *tfprotov6.GenerateResourceConfigRequest,
) (*tfprotov6.GenerateResourceConfigResponse, error) {
	record(Call{RPC: "GenerateResourceConfig", Type: req.TypeName})
	t, err := s.resourceType(req.TypeName)
	if err != nil {
		return nil, err
	}
	state, err := decode(req.State, t.ty)
	if err != nil {
		return nil, err
	}
	unset := make(map[string]cty.Value)
	for _, name := range t.attributeNames(func(a *tfprotov6.SchemaAttribute) bool { return !a.Optional && !a.Required }) {
		unset[name] = cty.NullVal(t.ty.AttributeType(name))
	}
	config, err := encode(withAttributes(state, unset), t.ty)
	return &tfprotov6.GenerateResourceConfigResponse{Config: config}, err
}
