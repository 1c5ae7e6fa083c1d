// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackaddrs

import "cmp"

// Component is a component block by its name in the stack.
type Component struct{ Name string }

// ComponentInstance is one instance of a component.
type ComponentInstance struct {
	Component Component
	Key       InstanceKey
}

// StackCall is a stack block by its name in the calling stack.
type StackCall struct{ Name string }

// StackCallInstance is one instance of a stack call.
type StackCallInstance struct {
	Call StackCall
	Key  InstanceKey
}

// InputVariable is a variable block by its name.
type InputVariable struct{ Name string }

// LocalValue is a local value by its name.
type LocalValue struct{ Name string }

// OutputValue is an output block by its name.
type OutputValue struct{ Name string }

// Provider is the source address of a provider, always fully qualified.
type Provider struct{ Hostname, Namespace, Type string }

// BuiltinProvider is the provider with the terraform_data resource type and the
// terraform_remote_state data source. It is part of the engine.
var BuiltinProvider = Provider{"terraform.io", "builtin", "terraform"}

// ProviderConfig is a provider block: its provider and the name of the configuration.
type ProviderConfig struct {
	Provider Provider
	Name     string
}

// ProviderConfigInstance is one instance of a provider configuration.
type ProviderConfigInstance struct {
	Config ProviderConfig
	Key    InstanceKey
}

// ProviderConfigRef is a reference to a provider configuration as it is
// written: by the provider's local name in the stack.
type ProviderConfigRef struct{ LocalName, Name string }

type (
	ConfigComponent      = InStack[Component]
	ConfigStackCall      = InStack[StackCall]
	ConfigInputVariable  = InStack[InputVariable]
	ConfigLocalValue     = InStack[LocalValue]
	ConfigOutputValue    = InStack[OutputValue]
	ConfigProviderConfig = InStack[ProviderConfig]

	AbsComponent              = InStackInstance[Component]
	AbsComponentInstance      = InStackInstance[ComponentInstance]
	AbsStackCall              = InStackInstance[StackCall]
	AbsStackCallInstance      = InStackInstance[StackCallInstance]
	AbsInputVariable          = InStackInstance[InputVariable]
	AbsLocalValue             = InStackInstance[LocalValue]
	AbsOutputValue            = InStackInstance[OutputValue]
	AbsProviderConfig         = InStackInstance[ProviderConfig]
	AbsProviderConfigInstance = InStackInstance[ProviderConfigInstance]
)

// ComponentOf drops the instance key of a component instance.
func ComponentOf(a AbsComponentInstance) AbsComponent {
	return AbsComponent{a.Stack, a.Item.Component}
}

// InstanceOf adds an instance key to the address of a component.
func InstanceOf(a AbsComponent, key InstanceKey) AbsComponentInstance {
	return AbsComponentInstance{a.Stack, ComponentInstance{a.Item, key}}
}

// HasWildcard reports whether a stands for instances that are not known yet.
func HasWildcard(a AbsComponentInstance) bool {
	return a.Item.Key.IsWildcard() || a.Stack.HasWildcard()
}

func (a Component) String() string         { return "component." + a.Name }
func (a ComponentInstance) String() string { return a.Component.String() + a.Key.String() }
func (a StackCall) String() string         { return "stack." + a.Name }
func (a StackCallInstance) String() string { return a.Call.String() + a.Key.String() }
func (a InputVariable) String() string     { return "var." + a.Name }
func (a LocalValue) String() string        { return "local." + a.Name }
func (a OutputValue) String() string       { return "output." + a.Name }
func (a ProviderConfig) String() string {
	return "provider[" + quote(a.Provider.String()) + "]." + a.Name
}
func (a ProviderConfigInstance) String() string { return a.Config.String() + a.Key.String() }
func (a ProviderConfigRef) String() string      { return "provider." + a.LocalName + "." + a.Name }

// String returns the fully qualified source address.
func (a Provider) String() string { return a.Hostname + "/" + a.Namespace + "/" + a.Type }

// IsBuiltin reports whether the provider is part of the engine: never installed,
// never locked, without a version.
func (a Provider) IsBuiltin() bool { return a.Hostname == "terraform.io" && a.Namespace == "builtin" }

func (a Component) Compare(b Component) int         { return cmp.Compare(a.Name, b.Name) }
func (a StackCall) Compare(b StackCall) int         { return cmp.Compare(a.Name, b.Name) }
func (a InputVariable) Compare(b InputVariable) int { return cmp.Compare(a.Name, b.Name) }
func (a LocalValue) Compare(b LocalValue) int       { return cmp.Compare(a.Name, b.Name) }
func (a OutputValue) Compare(b OutputValue) int     { return cmp.Compare(a.Name, b.Name) }

func (a ComponentInstance) Compare(b ComponentInstance) int {
	return cmp.Or(a.Component.Compare(b.Component), a.Key.Compare(b.Key))
}

func (a StackCallInstance) Compare(b StackCallInstance) int {
	return cmp.Or(a.Call.Compare(b.Call), a.Key.Compare(b.Key))
}

func (a Provider) Compare(b Provider) int {
	return cmp.Or(
		cmp.Compare(a.Hostname, b.Hostname),
		cmp.Compare(a.Namespace, b.Namespace),
		cmp.Compare(a.Type, b.Type),
	)
}

func (a ProviderConfig) Compare(b ProviderConfig) int {
	return cmp.Or(a.Provider.Compare(b.Provider), cmp.Compare(a.Name, b.Name))
}

func (a ProviderConfigInstance) Compare(b ProviderConfigInstance) int {
	return cmp.Or(a.Config.Compare(b.Config), a.Key.Compare(b.Key))
}
