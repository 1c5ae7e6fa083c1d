// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackeval

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/nearest"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/fault"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/expr"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/foreach"
	"github.com/cairnstacks/cairn/stackruntime/marks"
	"github.com/cairnstacks/cairn/stackruntime/stackconfig"
)

// resolve finds the object of a stack that a reference means. lookUp returns nil for an undeclared
// one.
func resolve(
	decl *stackconfig.Stack, ref stackaddrs.Reference, lookUp func(stackaddrs.Referenceable) expr.Referenceable,
) (expr.Referenceable, hcl.Diagnostics) {
	if object := lookUp(ref.Target); object != nil {
		return object, nil
	}
	if decl.Incomplete || decl.Rejected[ref.Target] {
		// The declaration may be in the file that could not be decoded, or was
		// left out for a mistake in it: either way that has been reported.
		return expr.JustValue{Value: expr.Placeholder(cty.DynamicPseudoType)}, nil
	}
	return nil, hcl.Diagnostics{undeclared(decl, ref)}
}

// symbols are the objects that expressions in a stack can refer to, for embedding: V are its
// variables, L its local values, P its provider configurations, C its components and S its stack
// calls.
type symbols[V, L, P, C, S expr.Referenceable] struct {
	variables  map[string]V
	locals     map[string]L
	providers  map[stackaddrs.ProviderConfigRef]P
	components map[string]C
	calls      map[string]S
	applying   expr.JustValue // terraform.applying
}

// lookUp finds the object that a reference means; nil when it is not declared.
func (s *symbols[V, L, P, C, S]) lookUp(target stackaddrs.Referenceable) expr.Referenceable {
	switch target := target.(type) {
	case stackaddrs.InputVariable:
		return referenceable(s.variables, target.Name)
	case stackaddrs.LocalValue:
		return referenceable(s.locals, target.Name)
	case stackaddrs.Component:
		return referenceable(s.components, target.Name)
	case stackaddrs.StackCall:
		return referenceable(s.calls, target.Name)
	case stackaddrs.ProviderConfigRef:
		return referenceable(s.providers, target)
	case stackaddrs.ContextualRef:
		if target == stackaddrs.TerraformApplying {
			return s.applying
		}
	}
	return nil
}

// referenceable looks an object up and keeps a missing one an untyped nil.
func referenceable[K comparable, V expr.Referenceable](objects map[K]V, key K) expr.Referenceable {
	if object, ok := objects[key]; ok {
		return object
	}
	return nil
}

func undeclared(decl *stackconfig.Stack, ref stackaddrs.Reference) *hcl.Diagnostic {
	diag := &hcl.Diagnostic{Severity: hcl.DiagError, Subject: ref.Range.Ptr()}
	switch target := ref.Target.(type) {
	case stackaddrs.InputVariable:
		diag.Summary = "Unknown variable"
		diag.Detail = fmt.Sprintf("This stack declares no variable %q.", target.Name)
		offerMeant(diag, "var.", target.Name, decl.Variables)
	case stackaddrs.LocalValue:
		diag.Summary = "Unknown local value"
		diag.Detail = fmt.Sprintf("This stack declares no local value %q.", target.Name)
		offerMeant(diag, "local.", target.Name, decl.Locals)
	case stackaddrs.Component:
		diag.Summary = "Unknown component"
		diag.Detail = fmt.Sprintf("This stack declares no component %q.", target.Name)
		offerMeant(diag, "component.", target.Name, decl.Components)
	case stackaddrs.StackCall:
		diag.Summary = "Unknown embedded stack"
		diag.Detail = fmt.Sprintf("This stack declares no embedded stack %q.", target.Name)
		offerMeant(diag, "stack.", target.Name, decl.Calls)
	case stackaddrs.ProviderConfigRef:
		diag.Summary = "Unknown provider configuration"
		given, declared := target.LocalName+"."+target.Name, make(map[string]bool, len(decl.Providers))
		for other := range decl.Providers {
			declared[other.LocalName+"."+other.Name] = true
		}
		diag.Detail = fmt.Sprintf("This stack declares no provider %q %q.", target.LocalName, target.Name)
		offerMeant(diag, "provider.", given, declared)
	default:
		diag.Summary = "Symbol not available here"
		diag.Detail = fmt.Sprintf("%s has no meaning here.", target)
		if target == stackaddrs.EachKey || target == stackaddrs.EachValue {
			diag.Detail = fmt.Sprintf("%s can be used only inside a block that has for_each, and not in the for_each argument itself.", target)
		}
	}
	return diag
}

// mostMeant is how many names are looked through for one that may be meant, which takes its time
// for each mistake.
const mostMeant = 2000

// meant offers the nearest of the declared names in a sentence with a space before it; "" if none
// is near.
func meant[T any](prefix, given string, declared map[string]T) string {
	if best := nearestOf(given, declared); best != "" {
		return fmt.Sprintf(" Did you mean %s%s?", prefix, best)
	}
	return ""
}

func nearestOf[T any](given string, declared map[string]T) string {
	if len(declared) > mostMeant {
		return ""
	}
	return nearest.Name(given, slices.Collect(maps.Keys(declared)))
}

// offerMeant adds the nearest of the declared names to a diagnostic about one that there is not: to
// its text, and for programs.
func offerMeant[T any](diag *hcl.Diagnostic, prefix, given string, declared map[string]T) {
	if best := nearestOf(given, declared); best != "" {
		diag.Detail += fmt.Sprintf(" Did you mean %s%s?", prefix, best)
		diag.Extra = fault.Meant{Text: prefix + best}
	}
}

// repetitionScope adds each.key and each.value to the scope of a stack.
type repetitionScope struct {
	expr.EvaluationScope
	repetition foreach.Repetition
}

// ResolveExpressionReference implements [expr.EvaluationScope].
func (s repetitionScope) ResolveExpressionReference(ctx context.Context, ref stackaddrs.Reference) (expr.Referenceable, hcl.Diagnostics) {
	if s.repetition != (foreach.Repetition{}) {
		switch ref.Target {
		case stackaddrs.EachKey:
			return expr.JustValue{Value: s.repetition.Key}, nil
		case stackaddrs.EachValue:
			return expr.JustValue{Value: s.repetition.Value}, nil
		}
	}
	return s.EvaluationScope.ResolveExpressionReference(ctx, ref)
}

// IsOptional implements [expr.OptionalScope]: for_each may be empty.
func (s repetitionScope) IsOptional() bool {
	return s.repetition != (foreach.Repetition{}) || expr.IsOptional(s.EvaluationScope)
}

// IsOptional implements [expr.OptionalScope].
func (s scopeWithoutProviders) IsOptional() bool { return expr.IsOptional(s.EvaluationScope) }

// IsOptional implements [expr.OptionalScope]: of a stack that is embedded with for_each, or only
// removed, there may be no instance.
func (s *StackConfig) IsOptional() bool {
	if s.addr.IsRoot() {
		return false
	}
	return s.call == nil || s.call.decl.ForEach != nil || s.call.stack.IsOptional()
}

// scopeWithoutProviders refuses references to provider configurations.
type scopeWithoutProviders struct {
	expr.EvaluationScope
	place string
}

// ResolveExpressionReference implements [expr.EvaluationScope].
func (s scopeWithoutProviders) ResolveExpressionReference(
	ctx context.Context, ref stackaddrs.Reference,
) (expr.Referenceable, hcl.Diagnostics) {
	if _, ok := ref.Target.(stackaddrs.ProviderConfigRef); ok {
		return nil, hcl.Diagnostics{failure.At(ref.Range, "Reference not allowed here", "%s cannot refer to provider configurations.", s.place)}
	}
	return s.EvaluationScope.ResolveExpressionReference(ctx, ref)
}

// applyingValue is terraform.applying.
func applyingValue(phase expr.EvalPhase) cty.Value {
	return cty.BoolVal(phase == expr.ApplyPhase).Mark(marks.Ephemeral)
}

// staticApplying is terraform.applying where the phase does not count.
var staticApplying = expr.JustValue{Value: cty.UnknownVal(cty.Bool).Mark(marks.Ephemeral)}
