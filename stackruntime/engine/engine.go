// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package engine says what the stacks runtime needs from a runtime of the
// Terraform modules language: something that can describe a module, plan one
// component instance and apply that plan.
//
// It knows nothing of processes, files of a terraform binary or databases. A
// program that embeds the stacks runtime brings its own [Engine].
//
// Rules for implementations:
//
//   - E1. All methods are safe for concurrent use.
//   - E2. A plan is applied as it was made. With inputs that were unknown while
//     planning, the engine must make sure, resource by resource, that the
//     applied change is a refinement of the planned one.
//   - E3. Whatever happens during an apply, the result holds the newest state.
//   - E4. Diagnostics name module files relative to the stack directory and never
//     show sensitive or ephemeral values.
//     What a provider says about its configuration has an Extra that is [AboutProvider].
//   - E5. Output does not depend on scheduling: changes are sorted by address.
package engine

import (
	"context"
	"encoding/json"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hcldec"
	tfjson "github.com/hashicorp/terraform-json"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/stackaddrs"
)

// Engine plans and applies component instances.
type Engine interface {
	// Info names the engine. A plan can be applied only by the engine, in the
	// version, that made it.
	Info() Info

	// Module describes the module in a local directory: what can be known from
	// its source alone, including the modules it calls.
	//
	// The result is nil only if there is no module to describe. Repeated calls
	// for one directory are cheap and return the same description.
	Module(ctx context.Context, dir string) (*Module, hcl.Diagnostics)

	// ValidateModule checks the module tree below dir as far as that is possible
	// without inputs, configured providers and state.
	ValidateModule(ctx context.Context, dir string) hcl.Diagnostics

	// ProviderConfigSpec returns how the body of a configuration of this provider
	// is decoded. A provider without settings has an empty object spec.
	ProviderConfigSpec(ctx context.Context, provider stackaddrs.Provider) (hcldec.Spec, hcl.Diagnostics)

	// Plan plans one component instance. With error diagnostics the result is
	// nil, or has Complete and Applyable unset and holds what could be found out.
	Plan(ctx context.Context, req *PlanRequest) (*PlanResult, hcl.Diagnostics)

	// Apply applies a plan made by Plan. The result is nil only if nothing was
	// done (rule E3).
	Apply(ctx context.Context, req *ApplyRequest) (*ApplyResult, hcl.Diagnostics)
}

// Info names an engine and its version.
type Info struct {
	Name    string // as users know it: "terraform", "tofu"
	Version string // without a leading "v"
}

// State is the state of one module tree: a JSON document in version 4 of the
// Terraform state format, with addresses as plain terraform has them. Empty means
// there is no state.
type State = json.RawMessage

// ProviderSlot is the name by which a module takes a provider configuration
// from its caller: a local name, and the alias for a slot declared in
// configuration_aliases.
type ProviderSlot struct {
	LocalName string
	Alias     string // empty for the default configuration
}

// String returns the slot as it is written in a providers argument.
func (s ProviderSlot) String() string {
	if s.Alias == "" {
		return s.LocalName
	}
	return s.LocalName + "." + s.Alias
}

// Module is what a component needs to know of its module.
type Module struct {
	Dir       string // absolute
	Variables map[string]*Variable
	Outputs   map[string]*Output

	// Slots are the provider configurations that the module tree takes from its
	// root, by declaration or by use of a resource. Of the built-in provider only by declaration.
	Slots map[ProviderSlot]*Slot

	// Requirements are the version constraints of all providers in the module
	// tree, each as written, sorted and without repetition.
	Requirements map[stackaddrs.Provider][]string
}

// Variable is an input variable of a module.
type Variable struct {
	Name      string
	Type      cty.Type  // may have optional attributes; DynamicPseudoType for any
	Default   cty.Value // of type Type; cty.NilVal when the variable is required
	Nullable  bool
	Sensitive bool
	Ephemeral bool
	Range     hcl.Range

	// ApplyDefaults fills the defaults of optional attributes into a value that
	// is to be converted to Type. Nil when there are none.
	ApplyDefaults func(cty.Value) cty.Value
}

// Required tells whether a value must be given.
func (v *Variable) Required() bool { return v.Default == cty.NilVal }

// Output is an output value of a module.
type Output struct {
	Name      string
	Sensitive bool
	Ephemeral bool
	Range     hcl.Range
}

// Slot is a provider configuration that a module takes from its caller.
type Slot struct {
	Provider stackaddrs.Provider
	Declared bool // in required_providers; otherwise assumed from the name, as old modules do
	Range    hcl.Range
}

// Mode is the kind of plan to make.
type Mode int

// The modes of plans.
const (
	Normal      Mode = iota
	Destroy          // destroy everything that the state holds
	RefreshOnly      // only bring the state up to date
)

// String returns the mode's name as in JSON output.
func (m Mode) String() string {
	return [...]string{"normal", "destroy", "refresh-only"}[m]
}

// ProviderConfig is a provider configuration assigned to a slot.
type ProviderConfig struct {
	Provider stackaddrs.Provider

	// Config has the shape of the provider's [Engine.ProviderConfigSpec]. May be
	// unknown in part, sensitive and ephemeral.
	Config cty.Value

	// Unknown is set when it is not known yet which configuration will be used.
	Unknown bool
}

// ProviderArgument is a part of a provider configuration that a module was given.
type ProviderArgument struct {
	Slot ProviderSlot
	Path cty.Path // in the configuration; empty for all of it
}

// AboutProvider may be implemented by the Extra of a diagnostic, directly or by what it wraps (see
// [hcl.DiagnosticExtraUnwrapper]). Where a provider configuration is written is not known to the engine.
type AboutProvider interface {
	// ProviderArgument returns what the diagnostic is about; nil if that is no provider configuration.
	ProviderArgument() *ProviderArgument
}

// PlanRequest says what to plan.
type PlanRequest struct {
	Component stackaddrs.AbsComponentInstance
	ModuleDir string
	Mode      Mode

	// Inputs has an attribute for each variable of the module, of the variable's
	// type. Null: the module's own rules judge it. Unknown: whole or in part.
	// Marks: sensitive; ephemeral for ephemeral variables only.
	Inputs    map[string]cty.Value
	Providers map[ProviderSlot]ProviderConfig

	PriorState  State
	SkipRefresh bool
	Replace     []string // resource instance addresses that must be replaced
	Timestamp   time.Time

	// DeferAll is set when something that the component depends on is deferred.
	DeferAll bool

	// Progress receives events while planning, one at a time. May be nil.
	Progress func(Event)
}

// PlanResult is the plan of one component instance.
type PlanResult struct {
	// Plan is what [Engine.Apply] needs. Holds values in clear: treat it like state.
	Plan []byte

	Applyable bool // there is something to apply
	Complete  bool // nothing was deferred

	// Outputs has all declared outputs as planned, with their exact types.
	// Unknown: what becomes known by applying. Marks: sensitive.
	Outputs map[string]cty.Value

	Changes  []*tfjson.ResourceChange // sorted by address, no-op included
	Drift    []*tfjson.ResourceChange // what changed outside, sorted by address
	Deferred []DeferredChange
	Checks   []CheckResult

	// RefreshedState is the prior state with what was found while refreshing.
	RefreshedState State
}

// DeferredChange is a change that cannot be planned yet.
type DeferredChange struct {
	Reason string // as in docs/language.md, section 4.8
	Change *tfjson.ResourceChange
}

// ApplyRequest says what to apply.
type ApplyRequest struct {
	Component stackaddrs.AbsComponentInstance
	ModuleDir string
	Mode      Mode
	Plan      []byte

	// Inputs are the final values, in the shape of [PlanRequest.Inputs] and known
	// as far as the configuration makes them so.
	Inputs    map[string]cty.Value
	Providers map[ProviderSlot]ProviderConfig

	PriorState State

	// Progress receives events while applying, one at a time. May be nil.
	Progress func(Event)

	// Checkpoint receives the newest state each time a resource was finished, so
	// that it can be saved now and then. Until [ApplyResult.Release], the engine
	// keeps the state safe itself if it can. Calls do not overlap. May be nil.
	Checkpoint func(State)
}

// ApplyResult is what an apply left behind.
type ApplyResult struct {
	State State

	// Outputs has all declared outputs; those which were not computed are
	// unknown. Marks: sensitive.
	Outputs map[string]cty.Value

	// Checks are the results of checks and conditions.
	Checks []CheckResult

	// Release tells the engine that the state is saved, so that it can drop what
	// it has kept in case the program dies before. Nil when there is nothing.
	Release func() error
}

// Event is progress of one component instance.
type Event struct {
	Type     EventType
	Resource string // resource instance address in the module, or ""
	Action   string // create, read, update, delete, replace …
	IDKey    string // name of the identifying attribute, when known
	IDValue  string
	Elapsed  time.Duration
	Message  string // what terraform would print for a person

	// Raw is the event in terraform's machine-readable format, when the engine
	// has one. Nil otherwise.
	Raw json.RawMessage
}

// EventType is the kind of an [Event], named as in terraform's machine-readable output.
type EventType string

// The kinds of events.
const (
	PlannedChange     EventType = "planned_change"
	ResourceDrift     EventType = "resource_drift"
	RefreshStart      EventType = "refresh_start"
	RefreshComplete   EventType = "refresh_complete"
	ApplyStart        EventType = "apply_start"
	ApplyProgress     EventType = "apply_progress"
	ApplyComplete     EventType = "apply_complete"
	ApplyErrored      EventType = "apply_errored"
	ProvisionStart    EventType = "provision_start"
	ProvisionProgress EventType = "provision_progress"
	ProvisionComplete EventType = "provision_complete"
	ProvisionErrored  EventType = "provision_errored"
	EphemeralStart    EventType = "ephemeral_op_start"
	EphemeralComplete EventType = "ephemeral_op_complete"
)
