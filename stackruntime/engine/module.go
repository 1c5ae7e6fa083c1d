// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package engine

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/ext/typeexpr"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/stackaddrs"
)

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

// Module is the description of a module that a component needs.
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

	// Deprecated is the message for who gives the variable a value; nil if it is not deprecated.
	Deprecated *string

	// Defaults are those of optional attributes in Type; nil when there are none.
	Defaults *typeexpr.Defaults
}

// ApplyDefaults fills the defaults of optional attributes into a value that
// is to be converted to the variable's type.
func (v *Variable) ApplyDefaults(value cty.Value) cty.Value {
	if v.Defaults == nil {
		return value
	}
	return v.Defaults.Apply(value)
}

// Required reports whether a value must be given.
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
