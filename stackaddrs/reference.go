// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackaddrs

import (
	"fmt"

	"github.com/hashicorp/hcl/v2"
)

// Referenceable is implemented by the addresses that expressions can refer to.
type Referenceable interface {
	fmt.Stringer
	referenceable()
}

func (InputVariable) referenceable()     {}
func (LocalValue) referenceable()        {}
func (Component) referenceable()         {}
func (StackCall) referenceable()         {}
func (ProviderConfigRef) referenceable() {}
func (ContextualRef) referenceable()     {}

// ContextualRef is a symbol whose meaning depends on the place of the expression.
type ContextualRef string

// The contextual symbols. CountIndex and Self can be parsed but are defined nowhere.
const (
	EachKey           ContextualRef = "each.key"
	EachValue         ContextualRef = "each.value"
	CountIndex        ContextualRef = "count.index"
	Self              ContextualRef = "self"
	TerraformApplying ContextualRef = "terraform.applying"
)

func (r ContextualRef) String() string { return string(r) }

// Reference is the use of an address in an expression.
type Reference struct {
	Target Referenceable
	Range  hcl.Range // of the steps that make up the target
}

// ParseReference returns the object that a traversal refers to. The rest of the traversal goes on
// into the object's value.
//
// It knows the form of references only, not which objects are declared.
// Without error diagnostics the reference has a target.
func ParseReference(traversal hcl.Traversal) (ref Reference, rest hcl.Traversal, diags hcl.Diagnostics) {
	root := traversal.RootName()
	switch root {
	case "var":
		return parseNamed(traversal, func(name string) Referenceable { return InputVariable{name} })
	case "local":
		return parseNamed(traversal, func(name string) Referenceable { return LocalValue{name} })
	case "component":
		return parseNamed(traversal, func(name string) Referenceable { return Component{name} })
	case "stack":
		return parseNamed(traversal, func(name string) Referenceable { return StackCall{name} })
	case "provider":
		return parseProviderConfigRef(traversal)
	case "each":
		return parseContextual(traversal, EachKey, EachValue)
	case "count":
		return parseContextual(traversal, CountIndex)
	case "terraform":
		return parseContextual(traversal, TerraformApplying)
	case "self":
		return Reference{Self, traversal[0].SourceRange()}, traversal[1:], nil
	}
	return Reference{}, nil, hcl.Diagnostics{{
		Severity: hcl.DiagError,
		Summary:  "Unknown symbol",
		Detail: fmt.Sprintf("There is no symbol %q in component configurations. References begin with var, local, component, stack, "+
			"provider, each or terraform.", root),
		Subject: traversal[0].SourceRange().Ptr(),
	}}
}

func parseNamed(traversal hcl.Traversal, target func(string) Referenceable) (Reference, hcl.Traversal, hcl.Diagnostics) {
	names, diags := attributeSteps(traversal, 1, "the name of an object, like "+traversal.RootName()+".name")
	if diags.HasErrors() {
		return Reference{}, nil, diags
	}
	return Reference{target(names[0]), traversal[:2].SourceRange()}, traversal[2:], nil
}

func parseProviderConfigRef(traversal hcl.Traversal) (Reference, hcl.Traversal, hcl.Diagnostics) {
	names, diags := attributeSteps(traversal, 2, "the provider's local name and the name of a configuration, like provider.aws.main")
	if diags.HasErrors() {
		return Reference{}, nil, diags
	}
	return Reference{ProviderConfigRef{names[0], names[1]}, traversal[:3].SourceRange()}, traversal[3:], nil
}

func parseContextual(traversal hcl.Traversal, known ...ContextualRef) (Reference, hcl.Traversal, hcl.Diagnostics) {
	names, diags := attributeSteps(traversal, 1, fmt.Sprintf("an attribute, like %s", known[0]))
	if diags.HasErrors() {
		return Reference{}, nil, diags
	}
	symbol := ContextualRef(traversal.RootName() + "." + names[0])
	for _, k := range known {
		if k == symbol {
			return Reference{symbol, traversal[:2].SourceRange()}, traversal[2:], nil
		}
	}
	return Reference{}, nil, hcl.Diagnostics{{
		Severity: hcl.DiagError,
		Summary:  "Unknown symbol",
		Detail:   fmt.Sprintf("The symbol %q has no attribute %q.", traversal.RootName(), names[0]),
		Subject:  traversal[1].SourceRange().Ptr(),
	}}
}

// attributeSteps returns the names of the n attribute steps after the root.
func attributeSteps(traversal hcl.Traversal, n int, want string) ([]string, hcl.Diagnostics) {
	names := make([]string, 0, n)
	for i := 1; i <= n; i++ {
		subject := traversal.SourceRange()
		if i < len(traversal) {
			if attr, ok := traversal[i].(hcl.TraverseAttr); ok {
				names = append(names, attr.Name)
				continue
			}
			subject = traversal[i].SourceRange()
		}
		return nil, hcl.Diagnostics{{
			Severity: hcl.DiagError,
			Summary:  "Incomplete reference",
			Detail:   fmt.Sprintf("The symbol %q must be followed by %s.", traversal.RootName(), want),
			Subject:  &subject,
		}}
	}
	return names, nil
}
