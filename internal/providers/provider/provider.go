// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package provider has the requests of an engine to a provider, and the responses: plain data,
// independent of its transport.
//
// A [Provider] is a process of a plugin, or the one that is built in. The contract:
//
//   - V1. Values are unmarked in both directions. A value of a resource type has the type of its
//     schema; null means that there is no object.
//   - V2. An identity that an answer does not have is [cty.NilVal], and so is a value that a
//     request does not have: an identity, provider_meta. An object that an answer does not have is
//     a null of its type, which the caller judges. It is [cty.NilVal], always with an error, only
//     if the call has failed or the object cannot be decoded.
//   - V3. The contents of an answer with errors are usable: an object that exists after a failed
//     apply is in it.
//   - V4. Private bytes are for the provider only, and are kept as they are. The caller must not
//     change them afterwards, nor may a provider.
//   - V5. Whether an answer keeps the rules for plans and results is the caller's to check. That
//     values have the types of the schema is checked here.
//   - V6. A failure of the connection or of the process is an error diagnostic that names the
//     provider. All methods return soon after ctx has ended.
package provider

import (
	"context"
	"time"

	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/providers/schema"
	"github.com/cairnstacks/cairn/stackaddrs"
)

// Provider is a provider at work. Safe for concurrent use.
type Provider interface {
	// Schema returns the schemas of the provider. The caller must not change it.
	Schema() *schema.Provider

	// ValidateConfig checks a configuration of the provider, which may have unknown parts.
	ValidateConfig(ctx context.Context, config cty.Value) Diagnostics

	// Configure must succeed before anything is asked about objects. Once at most.
	Configure(ctx context.Context, req ConfigureRequest) Diagnostics

	// ValidateResource checks a configuration of any mode, which may have unknown parts.
	ValidateResource(ctx context.Context, mode stackaddrs.ResourceMode, typeName string, config cty.Value) Diagnostics

	// UpgradeState returns a stored object as the present schema has it.
	UpgradeState(ctx context.Context, req UpgradeStateRequest) (cty.Value, Diagnostics)

	// UpgradeIdentity returns a stored identity as the present schema of identities has it.
	UpgradeIdentity(ctx context.Context, req UpgradeIdentityRequest) (cty.Value, Diagnostics)

	Read(ctx context.Context, req ReadRequest) ReadResponse
	Plan(ctx context.Context, req PlanRequest) PlanResponse
	Apply(ctx context.Context, req ApplyRequest) ApplyResponse
	Import(ctx context.Context, req ImportRequest) ImportResponse

	// Move makes an object of another type, perhaps of another provider, one of this provider. Only
	// with the capability MoveState.
	Move(ctx context.Context, req MoveRequest) MoveResponse

	// GenerateConfig returns a configuration of a managed object. Only with the capability
	// GenerateConfig.
	GenerateConfig(ctx context.Context, typeName string, object cty.Value) (cty.Value, Diagnostics)

	// ReadData reads a data source. The configuration is wholly known.
	ReadData(ctx context.Context, req ReadDataRequest) ReadDataResponse

	// OpenEphemeral opens an ephemeral resource. The configuration is wholly known.
	OpenEphemeral(ctx context.Context, req OpenEphemeralRequest) OpenEphemeralResponse
	RenewEphemeral(ctx context.Context, req EphemeralRequest) RenewEphemeralResponse
	CloseEphemeral(ctx context.Context, req EphemeralRequest) Diagnostics

	// CallFunction calls a function, of a provider that need not be configured.
	// [engine.FunctionCaller] has the rules for arguments, result and errors.
	CallFunction(ctx context.Context, name string, args []cty.Value) (cty.Value, error)

	ValidateAction(ctx context.Context, typeName string, config cty.Value) Diagnostics
	PlanAction(ctx context.Context, req PlanActionRequest) PlanActionResponse

	// InvokeAction returns when the action has ended.
	InvokeAction(ctx context.Context, req InvokeActionRequest) Diagnostics

	// ValidateList checks the configuration of a list resource, which may have unknown parts.
	ValidateList(ctx context.Context, req ValidateListRequest) Diagnostics

	// List finds existing objects. The configuration is wholly known.
	List(ctx context.Context, req ListRequest) ListResponse

	// Stop asks the provider to end its work soon, and returns at once: its other methods then return
	// the work that is done so far.
	Stop(ctx context.Context) error
}

// ConfigureRequest is how a provider is to be configured.
type ConfigureRequest struct {
	Config           cty.Value // may have unknown parts while planning
	TerraformVersion string    // the version of the engine
	DeferralAllowed  bool
}

// UpgradeStateRequest is a stored object.
type UpgradeStateRequest struct {
	Type    string
	Version int64             // of the schema by which it was stored
	JSON    []byte            // empty if there is only Flatmap
	Flatmap map[string]string // of very old states
}

// UpgradeIdentityRequest is a stored identity.
type UpgradeIdentityRequest struct {
	Type    string
	Version int64
	JSON    []byte
}

// ReadRequest asks for the present state of an object.
type ReadRequest struct {
	Type            string
	Current         cty.Value
	Private         []byte
	Meta            cty.Value // provider_meta of the module
	Identity        cty.Value
	DeferralAllowed bool
}

// ReadResponse is the present state of an object.
type ReadResponse struct {
	New         cty.Value // null if it is gone
	Private     []byte
	Identity    cty.Value
	Deferred    DeferredReason
	Diagnostics Diagnostics
}

// PlanRequest asks for the effects of a change. For destroying, Proposed and Config are null; for
// creating, Prior is.
type PlanRequest struct {
	Type                    string
	Prior, Proposed, Config cty.Value
	PriorPrivate            []byte
	PlannedPrivate          []byte // of the first plan, when an apply plans again
	Meta                    cty.Value
	PriorIdentity           cty.Value
	DeferralAllowed         bool
}

// PlanResponse has the effects of a change.
type PlanResponse struct {
	Planned          cty.Value
	RequiresReplace  []cty.Path
	Private          []byte
	LegacyTypeSystem bool // the provider may break the rules for plans
	Identity         cty.Value
	Deferred         DeferredReason
	Diagnostics      Diagnostics
}

// ApplyRequest asks for a change. For destroying, Planned and Config are null; for creating, Prior
// is.
type ApplyRequest struct {
	Type                   string
	Prior, Planned, Config cty.Value
	Private                []byte // as it was planned
	Meta                   cty.Value
	PlannedIdentity        cty.Value
}

// ApplyResponse is the object after a change.
type ApplyResponse struct {
	New              cty.Value // also with errors; null if there is no object
	Private          []byte
	LegacyTypeSystem bool
	Identity         cty.Value
	Diagnostics      Diagnostics
}

// ImportRequest names an existing object, by an id or by an identity.
type ImportRequest struct {
	Type            string
	ID              string
	Identity        cty.Value
	DeferralAllowed bool
}

// ImportResponse has the imported objects. Some may be of other types than that of the request.
type ImportResponse struct {
	Objects     []ImportedObject
	Deferred    DeferredReason
	Diagnostics Diagnostics
}

// ImportedObject is an object that is to be read next.
type ImportedObject struct {
	Type     string
	Object   cty.Value
	Private  []byte
	Identity cty.Value
}

// MoveRequest is a stored object that is to become one of another type.
type MoveRequest struct {
	SourceProvider        stackaddrs.Provider
	SourceType            string
	SourceVersion         int64
	SourceJSON            []byte
	SourceFlatmap         map[string]string
	SourcePrivate         []byte
	SourceIdentity        []byte // JSON; empty if there is none
	SourceIdentityVersion int64
	TargetType            string
}

// MoveResponse is the object in its new type.
type MoveResponse struct {
	Object      cty.Value
	Private     []byte
	Identity    cty.Value
	Diagnostics Diagnostics
}

// ReadDataRequest asks for the result of a data source.
type ReadDataRequest struct {
	Type            string
	Config          cty.Value
	Meta            cty.Value
	DeferralAllowed bool
}

// ReadDataResponse is the result of a data source.
type ReadDataResponse struct {
	State       cty.Value
	Deferred    DeferredReason
	Diagnostics Diagnostics
}

// OpenEphemeralRequest is the configuration of an ephemeral resource.
type OpenEphemeralRequest struct {
	Type            string
	Config          cty.Value
	DeferralAllowed bool
}

// OpenEphemeralResponse is an open ephemeral resource. It must be closed unless there are errors or
// it is deferred.
type OpenEphemeralResponse struct {
	Result      cty.Value
	RenewAt     time.Time // zero for never
	Private     []byte
	Deferred    DeferredReason
	Diagnostics Diagnostics
}

// EphemeralRequest is about an open ephemeral resource, with the latest private bytes.
type EphemeralRequest struct {
	Type    string
	Private []byte
}

// RenewEphemeralResponse is an ephemeral resource that stays open.
type RenewEphemeralResponse struct {
	RenewAt     time.Time // zero for never
	Private     []byte
	Diagnostics Diagnostics
}

// PlanActionRequest asks whether an action can be invoked.
type PlanActionRequest struct {
	Type            string
	Config          cty.Value
	DeferralAllowed bool
}

// PlanActionResponse says whether an action can be invoked.
type PlanActionResponse struct {
	Deferred    DeferredReason
	Diagnostics Diagnostics
}

// InvokeActionRequest asks for an action.
type InvokeActionRequest struct {
	Type     string
	Config   cty.Value
	Progress func(message string) // nil, or called by one goroutine before InvokeAction returns
}

// ValidateListRequest is a list resource, with values that may be unknown.
type ValidateListRequest struct {
	Type          string
	Config        cty.Value
	IncludeObject cty.Value // bool
	Limit         cty.Value // number
}

// ListRequest asks for the existing objects that a list resource finds.
type ListRequest struct {
	Type          string // of the list resource, and of the objects
	Config        cty.Value
	IncludeObject bool  // the objects are wanted, not their identities only
	Limit         int64 // the largest number of objects that is wanted
}

// ListResponse has the objects in the order of the provider. There may be some also with errors.
type ListResponse struct {
	Objects     []ListedObject
	Diagnostics Diagnostics
}

// ListedObject is an existing object, which can be imported by its identity.
type ListedObject struct {
	Identity    cty.Value
	DisplayName string
	Object      cty.Value // null if it was not asked for, or if the provider leaves it out
}
