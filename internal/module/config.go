// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package module

import (
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/lang"
	"github.com/cairnstacks/cairn/internal/module/refs"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// Directory is the configuration in one module directory.
type Directory struct {
	Dir   string // its absolute path
	Files []*File

	// Tofu is the sign that the directory is for tofu: one of its files, or the head of a language
	// block. Nil without one, and where the loader looks for none.
	Tofu *hcl.Range

	// TofuFiles are those that only tofu reads, and that were not read: how messages name them.
	TofuFiles []string

	// ValueFiles are those with values of variables for a run of the engine in the directory: how
	// messages name them.
	ValueFiles []string

	Variables map[string]*Variable
	Locals    map[string]*Local
	Outputs   map[string]*Output
	Calls     map[string]*Call
	Resources map[stackaddrs.Resource]*Resource // managed, data (those nested in checks, too) and ephemeral ones
	Checks    map[string]*Check
	Actions   map[string]*Action // by TYPE.NAME

	// Lists are those of the query files, by TYPE.NAME. Only [Loader.Query] sets them.
	Lists map[string]*List

	Moved   []*Moved
	Removed []*Removed
	Imports []*Import

	// ProviderMeta are the bodies of provider_meta blocks, by the local names of the providers.
	ProviderMeta map[string]*ProviderMeta

	// Functions are the calls of functions outside of files in JSON syntax.
	Functions []refs.FunctionCall

	// Unsupported are errors about features of the language that the native engine lacks, by feature
	// and place.
	Unsupported hcl.Diagnostics

	Required map[string]*Requirement // by local name

	// ProviderUses has the references to provider configurations by resources, actions and functions,
	// each with the first range where it occurs.
	ProviderUses map[engine.ProviderSlot]hcl.Range

	// DataProviders are those of ProviderUses that data sources use.
	DataProviders map[engine.ProviderSlot]bool

	// Providers are the provider blocks.
	Providers []ProviderBlock

	// WorkspaceUses are where the name of the workspace is asked for, which the modules of components
	// have not.
	WorkspaceUses []hcl.Range

	// Backends are the backend, cloud and state_store blocks.
	Backends []*hcl.Block

	// Versions are the constraints on the version of terraform or tofu.
	Versions []VersionConstraint

	// HasRequiredProviders reports whether there is a required_providers block.
	HasRequiredProviders bool

	newer []newer // uses of what only newer versions of terraform have

	strict hcl.Diagnostics // mistakes that an engine with a binary finds itself
}

// Requirement is an entry of required_providers.
type Requirement struct {
	Provider stackaddrs.Provider
	Version  string // as written, or empty
	Aliases  []string
	Range    hcl.Range
}

// ProviderBlock is a provider block in a module.
type ProviderBlock struct {
	Slot engine.ProviderSlot

	// Proxy is set if the block configures nothing: an old way to declare a slot.
	Proxy bool

	Version string           // constraint as written, or empty
	Config  hcl.Body         // the arguments of the provider
	Refs    []refs.Reference // in these; also in those of override files
	Range   hcl.Range
}

func newDirectory(path string) *Directory {
	return &Directory{
		Dir:           path,
		Variables:     map[string]*Variable{},
		Locals:        map[string]*Local{},
		Outputs:       map[string]*Output{},
		Calls:         map[string]*Call{},
		Resources:     map[stackaddrs.Resource]*Resource{},
		Checks:        map[string]*Check{},
		Actions:       map[string]*Action{},
		ProviderMeta:  map[string]*ProviderMeta{},
		Required:      map[string]*Requirement{},
		ProviderUses:  map[engine.ProviderSlot]hcl.Range{},
		DataProviders: map[engine.ProviderSlot]bool{},
	}
}

// Expr is an expression with its references.
type Expr struct {
	hcl.Expression
	Refs []refs.Reference
}

// Condition is a precondition, postcondition, assertion or validation.
type Condition struct {
	Condition    *Expr
	ErrorMessage *Expr
	Range        hcl.Range // of the head of the block
}

// Local is a local value.
type Local struct {
	Name  string
	Value *Expr
	Range hcl.Range
}

// Output is an output block.
type Output struct {
	*engine.Output
	Description   string
	Type          *lang.Constraint // nil without the argument, which is as any
	Value         *Expr
	DependsOn     []refs.Reference
	Preconditions []*Condition

	// Deprecated is the message for who uses the output; nil if it is not deprecated.
	Deprecated      *string
	DeprecatedRange hcl.Range
}

// References returns the references in the value and the preconditions.
func (o *Output) References() []refs.Reference {
	return appendConditions(appendRefs(nil, o.Value), o.Preconditions)
}

// Repeat is the argument that determines the instances of a block: one of the three, or none.
type Repeat struct {
	Count, ForEach *Expr

	Enabled *Expr // the lifecycle argument of tofu: whether there is the only instance
}

// Keyed reports whether the instances have keys.
func (r Repeat) Keyed() bool { return r.Count != nil || r.ForEach != nil }

// References returns the references in the arguments.
func (r Repeat) References() []refs.Reference { return appendRefs(nil, r.Count, r.ForEach, r.Enabled) }

func appendRefs(found []refs.Reference, exprs ...*Expr) []refs.Reference {
	for _, expr := range exprs {
		if expr != nil {
			found = append(found, expr.Refs...)
		}
	}
	return found
}

func appendConditions(found []refs.Reference, conditions []*Condition) []refs.Reference {
	for _, c := range conditions {
		found = appendRefs(found, c.Condition, c.ErrorMessage)
	}
	return found
}

// Call is a module block.
type Call struct {
	Name        string
	Source      *Expr // nil if it is missing
	SourceRange hcl.Range
	Version     *Expr // constraint on the version; nil without one

	// Providers maps the names of the called module to those of the caller.
	Providers map[engine.ProviderSlot]engine.ProviderSlot

	// ProviderRanges are the places of the names of the called module.
	ProviderRanges map[engine.ProviderSlot]hcl.Range

	Repeat    Repeat
	DependsOn []refs.Reference

	// IgnoreDeprecations is set if deprecated values may be used in the called module, and below.
	IgnoreDeprecations bool

	Inputs map[string]*Expr     // by variable
	Names  map[string]hcl.Range // where these are written, by variable
	Range  hcl.Range
}

// Resource is a resource, data or ephemeral block.
type Resource struct {
	Addr stackaddrs.Resource

	// Provider is the local name of the provider, or a name and an alias. ProviderRange is where that
	// is written, or the head of the block.
	Provider      engine.ProviderSlot
	ProviderRange hcl.Range
	ProviderAddr  stackaddrs.Provider

	Repeat    Repeat
	DependsOn []refs.Reference

	// Body is the part that the provider's schema describes. In JSON syntax, too, it lacks all
	// arguments of the language.
	Body hcl.Body

	// Refs are the references in Body, found without its schema: in JSON syntax, these may be a few
	// too many.
	Refs []refs.Reference

	CreateBeforeDestroy bool
	PreventDestroy      bool
	PreventDestroyIf    *Expr // of tofu: stands for PreventDestroy; nil where that counts
	Forgets             bool  // destroy = false: objects that end are forgotten, and not destroyed
	IgnoreAll           bool
	IgnoreChanges       []hcl.Traversal // relative
	ReplaceTriggeredBy  []*Expr
	Preconditions       []*Condition
	Postconditions      []*Condition
	ActionTriggers      []*ActionTrigger

	Connection   *Connection // default for the provisioners; nil without one
	Provisioners []*Provisioner

	Check *Check // in which the data block is nested, or nil

	Range hcl.Range // of the head of the block

	written []writtenBody // Body, in parts
}

// References returns all references in the block but those of depends_on.
func (r *Resource) References() []refs.Reference {
	found := append(r.Repeat.References(), r.Refs...)
	found = appendConditions(appendConditions(found, r.Preconditions), r.Postconditions)
	found = r.Connection.appendRefs(appendRefs(found, r.ReplaceTriggeredBy...))
	for _, p := range r.Provisioners {
		found = p.Connection.appendRefs(append(found, p.Refs...))
	}
	for _, trigger := range r.ActionTriggers {
		found = appendRefs(found, trigger.Condition)
	}
	return found
}

// Connection is a connection block.
type Connection struct {
	Body  hcl.Body
	Refs  []refs.Reference
	Range hcl.Range
}

func (c *Connection) appendRefs(found []refs.Reference) []refs.Reference {
	if c == nil {
		return found
	}
	return append(found, c.Refs...)
}

// Provisioner is a provisioner block.
type Provisioner struct {
	Type       string
	Destroy    bool // when = destroy
	Continue   bool // on_failure = continue
	Connection *Connection
	Body       hcl.Body
	Refs       []refs.Reference
	Range      hcl.Range
}

// Check is a check block.
type Check struct {
	Name       string
	Data       *Resource // nil without one
	Assertions []*Condition
	Range      hcl.Range
}

// ActionTrigger is an action_trigger block in a lifecycle block.
type ActionTrigger struct {
	Events    []engine.TriggerEvent
	Condition *Expr   // nil without one
	Actions   []*Expr // each a reference to an action, or to an instance of it
	OnFailure engine.OnFailure
	Range     hcl.Range
}

// Triggers reports whether changes of the resource trigger an action.
func (r *Resource) Triggers(a *Action) bool {
	names := func(ref refs.Reference) bool {
		return ref.Subject == refs.Subject{Kind: refs.Action, Type: a.Type, Name: a.Name}
	}
	return slices.ContainsFunc(r.ActionTriggers, func(trigger *ActionTrigger) bool {
		return slices.ContainsFunc(trigger.Actions, func(expr *Expr) bool { return slices.ContainsFunc(expr.Refs, names) })
	})
}

// TriggersLast reports whether the end of an object triggers an action.
func (r *Resource) TriggersLast() bool {
	return slices.ContainsFunc(r.ActionTriggers, func(trigger *ActionTrigger) bool {
		return slices.ContainsFunc(trigger.Events, engine.TriggerEvent.Ends)
	})
}

// HasCaller reports whether the configuration of the action refers to its caller.
func (a *Action) HasCaller() bool {
	return slices.ContainsFunc(a.Refs, func(ref refs.Reference) bool { return ref.Subject.Kind == refs.Caller })
}

// Action is an action block.
type Action struct {
	Type, Name    string
	Provider      engine.ProviderSlot
	ProviderRange hcl.Range
	ProviderAddr  stackaddrs.Provider
	Repeat        Repeat
	Config        hcl.Body // of the config block; empty without one
	Refs          []refs.Reference
	Range         hcl.Range
}

// MoveEnd is an end of a moved block, or the object of a removed one: a module call or a resource,
// with keys as far as they are written.
type MoveEnd struct {
	Module   []MoveStep
	Resource *stackaddrs.Resource // nil if a module call is meant
	Key      stackaddrs.InstanceKey
	Range    hcl.Range
}

// MoveStep is a step from a module to one that it calls.
type MoveStep struct {
	Name string
	Key  stackaddrs.InstanceKey // NoKey where none is written: all instances of the call
}

// Moved is a moved block.
type Moved struct {
	From, To MoveEnd
	Range    hcl.Range
}

// Removed is a removed block.
type Removed struct {
	From         MoveEnd
	Destroy      bool // the named objects are destroyed; otherwise forgotten
	Connection   *Connection
	Provisioners []*Provisioner
	Range        hcl.Range
}

// Import is an import block.
type Import struct {
	To       hcl.Expression
	Block    stackaddrs.ResourceInstance // the target, without keys
	Steps    []AddressStep               // the names in To after which there can be a key: those of the module calls and of the resource
	ID       *Expr                       // or
	Identity *Expr
	ForEach  *Expr
	Provider *ImportProvider // nil without the argument
	Range    hcl.Range
}

// ImportProvider is the argument provider of an import block. It has a meaning only where a
// configuration is to be generated, and may otherwise repeat the provider of the resource block.
type ImportProvider struct {
	Slot  engine.ProviderSlot
	Range hcl.Range
}

// AddressStep is a name in an address, with the key after it.
type AddressStep struct {
	Name string
	Key  hcl.Expression // nil without one
}

// ProviderMeta is a provider_meta block.
type ProviderMeta struct {
	Provider stackaddrs.Provider
	Body     hcl.Body // has constants only
	Range    hcl.Range
}

// Static returns the value of an expression that refers to nothing.
func (e *Expr) Static() (cty.Value, hcl.Diagnostics) { return e.Value(nil) }
