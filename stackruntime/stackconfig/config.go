// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package stackconfig loads component configurations: the files of a stack
// directory, and of the stacks it embeds, as a tree of declarations.
//
// Expressions are kept as they are written; the evaluator gives them values. Mistakes that show
// without evaluating are reported here, with the smallest range at fault.
package stackconfig

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/ext/typeexpr"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// Config is a stack configuration: the tree of stacks below a root directory.
type Config struct {
	Root *Stack

	// BaseDir is where relative paths in expressions start: the directory of the root stack, absolute,
	// by the name by which it was given. Empty stands for the current directory.
	BaseDir string

	// FilesWithin are the directories that functions read files in; nil stands for all. See
	// [LoadOptions.FilesWithin].
	FilesWithin []string

	// Files are all files read, by the name used in diagnostics: a slash-separated
	// path relative to the directory of the root stack, or a source address.
	Files map[string]*hcl.File

	// Paths are where Files were read, absolute, by the same names.
	Paths map[string]string

	// Moved are the moved blocks of all stacks of the tree.
	Moved []*MovedIn

	// Resolver found the sources that are not local. May be nil.
	Resolver Resolver
}

// Stack is one stack of the tree, as written.
type Stack struct {
	Addr stackaddrs.Stack
	Dir  string // absolute

	RequiredProviders *ProviderRequirements // nil when there is no such block
	Variables         map[string]*InputVariable
	Locals            map[string]*LocalValue
	Outputs           map[string]*OutputValue
	Providers         map[stackaddrs.ProviderConfigRef]*ProviderConfig
	Components        map[string]*Component
	Calls             map[string]*StackCall
	Removed           []*Removed // in file and line order
	Moved             []*Moved   // likewise

	// Children are the embedded stacks by the name of their call, as far as
	// they could be loaded. Two calls of one directory have two children.
	Children map[string]*Stack

	// Incomplete is set when a file of the directory could not be decoded, so
	// that a missing declaration may not be the fault of the reference to it.
	Incomplete bool

	// Rejected are declarations that were left out because of a mistake that was
	// reported. A reference to one of them is not a mistake of its own.
	Rejected map[stackaddrs.Referenceable]bool
}

// ProviderRequirements is a required_providers block. The built-in provider has
// an entry for the local name "terraform" even where none is written.
type ProviderRequirements struct {
	Providers map[string]*ProviderRequirement // by local name
	Rejected  map[string]bool                 // local names of entries left out because of a mistake that was reported
	Range     hcl.Range
}

// ProviderRequirement is one entry of a required_providers block.
type ProviderRequirement struct {
	LocalName string
	Provider  stackaddrs.Provider
	Version   string // constraint as written; empty for built-in providers
	Range     hcl.Range
}

// Named returns the requirement with a local name; nil when there is none. r may be nil.
func (r *ProviderRequirements) Named(localName string) *ProviderRequirement {
	if r == nil {
		return nil
	}
	return r.Providers[localName]
}

// Of returns the requirement for a provider, which has one local name at most; nil when there is
// none. r may be nil.
func (r *ProviderRequirements) Of(provider stackaddrs.Provider) *ProviderRequirement {
	if r == nil {
		return nil
	}
	for _, req := range r.Providers {
		if req.Provider == provider {
			return req
		}
	}
	return nil
}

// Type is a type constraint.
type Type struct {
	Constraint cty.Type           // may have optional attributes; DynamicPseudoType when it was not valid
	Defaults   *typeexpr.Defaults // nil when there are no defaults of optional attributes
}

// WithoutOptional is the type of values that conform to the constraint.
func (t Type) WithoutOptional() cty.Type { return t.Constraint.WithoutOptionalAttributesDeep() }

// InputVariable is a variable block.
type InputVariable struct {
	Name         string
	Description  string
	Type         Type
	Default      cty.Value // of the type, optional attributes filled in; cty.NilVal when there is none
	Sensitive    bool
	Ephemeral    bool
	Validations  []*CheckRule
	Range        hcl.Range // of the block header
	DefaultRange hcl.Range
}

// CheckRule is a validation block.
type CheckRule struct {
	Condition    hcl.Expression
	ErrorMessage hcl.Expression
	Range        hcl.Range
}

// LocalValue is one entry of a locals block.
type LocalValue struct {
	Name  string
	Value hcl.Expression
	Range hcl.Range
}

// OutputValue is an output block.
type OutputValue struct {
	Name        string
	Description string
	Type        Type
	Value       hcl.Expression // never nil; an unknown value when none is written
	Sensitive   bool
	Ephemeral   bool
	Range       hcl.Range
}

// ProviderConfig is a provider block.
type ProviderConfig struct {
	Ref      stackaddrs.ProviderConfigRef
	Provider stackaddrs.Provider
	ForEach  hcl.Expression // nil when there is none
	Config   hcl.Body       // an empty body when there is no config block
	Range    hcl.Range
}

// Source is where a module or an embedded stack comes from.
type Source struct {
	Written string // as in the configuration
	Version string // constraint as written, or ""
	Range   hcl.Range

	// Dir is the absolute directory that the source resolved to. Empty when it
	// could not be resolved; that was reported then.
	Dir string
}

// Component is a component block.
type Component struct {
	Name      string
	Source    Source
	ForEach   hcl.Expression // nil when there is none
	Inputs    hcl.Expression // nil when there is none
	Providers []ProviderAssignment
	DependsOn []hcl.Traversal
	Range     hcl.Range
}

// ProviderAssignment is one entry of a providers argument.
type ProviderAssignment struct {
	Slot      engine.ProviderSlot
	SlotRange hcl.Range
	Value     hcl.Expression
}

// StackCall is a stack block.
type StackCall struct {
	Name      string
	Source    Source
	ForEach   hcl.Expression // nil when there is none
	Inputs    hcl.Expression // nil when there is none
	DependsOn []hcl.Traversal
	Range     hcl.Range
}

// Removed is a removed block.
type Removed struct {
	From      *RemovedFrom
	Source    Source
	ForEach   hcl.Expression // nil when there is none
	Inputs    hcl.Expression // stack targets only; nil when there is none
	Providers []ProviderAssignment
	Destroy   bool
	Range     hcl.Range
}

// Moved is a moved block.
type Moved struct {
	Move      stackaddrs.Move // seen from the stack with the block
	FromRange hcl.Range
	ToRange   hcl.Range
	Range     hcl.Range
}

// MovedIn is a moved block of one stack of the tree.
type MovedIn struct {
	Stack *Stack
	*Moved
}

// Moves returns the moves of moved blocks, in their order.
func Moves(blocks []*MovedIn) stackaddrs.Moves {
	moves := make(stackaddrs.Moves, len(blocks))
	for i, block := range blocks {
		moves[i] = stackaddrs.DeclaredMove{Stack: block.Stack.Addr, Move: block.Move}
	}
	return moves
}

// RemovedFrom is the target of a removed block.
type RemovedFrom struct {
	Stacks    []RemovedStep // stack steps from the stack with the block down
	Component *RemovedStep  // nil when the target is the last of Stacks
	Range     hcl.Range
}

// RemovedStep is one step of the target of a removed block.
type RemovedStep struct {
	Name  string
	Index hcl.Expression // nil when there is none
}
