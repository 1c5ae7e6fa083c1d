// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package inputs takes the values for variables out of inputs arguments: those of components, for
// the variables of their modules, and those of embedded stacks.
//
// A [Set] knows the variables. Values are converted to their types, null and absent ones selected
// from defaults, and impossible values are reported at the attribute that has them
// (docs/language.md, sections 2.7 and 2.8).
package inputs

import (
	"fmt"
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/conversion"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/expr"
	"github.com/cairnstacks/cairn/stackruntime/marks"
	"github.com/cairnstacks/cairn/stackruntime/stackconfig"
)

// Set has the variables that an inputs argument must supply: those of a module or of an embedded
// stack.
type Set struct {
	variables []*engine.Variable // sorted by name
	messages  messages
	nullable  bool // null is a value for variables without a default
	partial   bool // further variables may be declared where it could not be read
}

type messages struct {
	doNotFit string // summary for values of the wrong type
	missing  string // summary for one variable without value
	needed   string // summary for no inputs argument at all
	owner    string // name of the object that declares the variables, as in "the module"
}

var (
	moduleMessages = messages{
		doNotFit: "Component inputs do not fit",
		missing:  "Component inputs do not fit",
		needed:   "Component needs inputs",
		owner:    "module",
	}
	stackMessages = messages{
		doNotFit: "Embedded stack inputs do not fit",
		missing:  "Required variable of the embedded stack not set",
		needed:   "Embedded stack needs inputs",
		owner:    "embedded stack",
	}
)

// OfModule are the variables of a component's module.
func OfModule(module *engine.Module) Set {
	set := Set{messages: moduleMessages, nullable: true}
	for _, name := range slices.Sorted(maps.Keys(module.Variables)) {
		set.variables = append(set.variables, module.Variables[name])
	}
	return set
}

// OfStack are the variables of an embedded stack.
func OfStack(stack *stackconfig.Stack) Set {
	set := Set{messages: stackMessages, partial: stack.Incomplete}
	for _, name := range slices.Sorted(maps.Keys(stack.Variables)) {
		v := stack.Variables[name]
		set.variables = append(set.variables, &engine.Variable{
			Name:      name,
			Type:      v.Type.Constraint,
			Defaults:  v.Type.Defaults,
			Default:   v.Default,
			Sensitive: v.Sensitive,
			Ephemeral: v.Ephemeral,
			Range:     v.Range,
		})
	}
	return set
}

// Placeholders are values for all variables when nothing better is known.
func (s Set) Placeholders() map[string]cty.Value {
	return s.each(func(v *engine.Variable) cty.Value { return expr.Placeholder(v.Type.WithoutOptionalAttributesDeep()) })
}

func (s Set) each(value func(*engine.Variable) cty.Value) map[string]cty.Value {
	values := make(map[string]cty.Value, len(s.variables))
	for _, v := range s.variables {
		values[v.Name] = value(v)
	}
	return values
}

// WithoutArgument is for a block that has no inputs argument.
func (s Set) WithoutArgument(block hcl.Range) (map[string]cty.Value, hcl.Diagnostics) {
	for _, v := range s.variables {
		if v.Required() {
			return s.Placeholders(), hcl.Diagnostics{failure.At(block, s.messages.needed,
				"The %s has required variables, %q for one. Set them in an inputs argument.", s.messages.owner, v.Name)}
		}
	}
	return s.each(func(v *engine.Variable) cty.Value { return v.Default }), nil
}

// FromFailed is for an inputs argument that could not be evaluated. The variables that it does not
// set for all that are reported, as the names in it may be known.
func (s Set) FromFailed(result expr.Result) (map[string]cty.Value, hcl.Diagnostics) {
	pairs, moreDiags := hcl.ExprMap(result.Expression)
	if moreDiags.HasErrors() {
		return s.Placeholders(), nil // not an object constructor
	}
	given := make(map[string]bool, len(pairs))
	for _, pair := range pairs {
		name := attributeKey(pair.Key)
		if name == "" {
			return s.Placeholders(), nil // an expression, which may be any name
		}
		given[name] = true
	}
	var diags hcl.Diagnostics
	for _, v := range s.variables {
		if v.Required() && !given[v.Name] {
			diags = diags.Append(s.missing(v, result))
		}
	}
	return s.Placeholders(), diags
}

// missing is about a variable that has no value.
func (s Set) missing(v *engine.Variable, result expr.Result) *hcl.Diagnostic {
	return result.Diagnostic(s.messages.missing, fmt.Sprintf("The %s requires a value for its variable %q.", s.messages.owner, v.Name))
}

// FromArgument takes the values for the variables out of an evaluated inputs argument.
//
// Attributes without a variable are dropped. Null selects the default.
func (s Set) FromArgument(result expr.Result) (map[string]cty.Value, hcl.Diagnostics) {
	value := marks.PushDown(unknownAttributes(result.Value))
	value, outer := value.Unmark()
	ty := value.Type()
	switch {
	case !value.IsKnown() && (ty == cty.DynamicPseudoType || ty.IsMapType() || expr.IsFailed(result.Value)):
		values := s.each(func(v *engine.Variable) cty.Value {
			return cty.UnknownVal(v.Type.WithoutOptionalAttributesDeep()).WithMarks(outer)
		})
		return s.checkEphemeral(values, result)
	case value.IsNull() || (!ty.IsObjectType() && !ty.IsMapType()):
		return s.Placeholders(), hcl.Diagnostics{result.Diagnostic(
			s.messages.doNotFit,
			fmt.Sprintf("The inputs argument must be an object with the variables of the %s as attributes.", s.messages.owner),
		)}
	}

	var diags hcl.Diagnostics
	given := value.AsValueMap()
	values := s.each(func(v *engine.Variable) cty.Value {
		converted, diag := s.convertOne(v, given[v.Name], result)
		if diag != nil {
			diags = diags.Append(diag)
			return expr.Placeholder(v.Type.WithoutOptionalAttributesDeep())
		}
		if v.Deprecated != nil && given[v.Name] != cty.NilVal && !IsNull(given[v.Name]) {
			warning := problemWith(v.Name, result, "Deprecated variable got a value", *v.Deprecated)
			warning.Severity = hcl.DiagWarning
			diags = diags.Append(warning)
		}
		return converted.WithMarks(outer)
	})
	values, moreDiags := s.checkEphemeral(values, result)
	return values, diags.Extend(moreDiags)
}

// unknownAttributes takes an unknown object apart: its attribute names are known. Other values stay
// as they are.
func unknownAttributes(value cty.Value) cty.Value {
	ty := value.Type()
	if value.IsKnown() || !ty.IsObjectType() || expr.IsFailed(value) {
		return value
	}
	_, outer := value.Unmark()
	attrs := make(map[string]cty.Value)
	for name, attr := range ty.AttributeTypes() {
		attrs[name] = cty.UnknownVal(attr)
	}
	return cty.ObjectVal(attrs).WithMarks(outer)
}

// checkEphemeral puts Placeholders in the place of ephemeral values for variables that do not take
// them.
func (s Set) checkEphemeral(values map[string]cty.Value, result expr.Result) (map[string]cty.Value, hcl.Diagnostics) {
	var diags hcl.Diagnostics
	for _, v := range s.variables {
		if v.Ephemeral || !marks.Contains(values[v.Name], marks.Ephemeral) {
			continue
		}
		values[v.Name] = expr.Placeholder(v.Type.WithoutOptionalAttributesDeep())
		diags = diags.Append(problemWith(v.Name, result, "Variable does not take ephemeral values",
			fmt.Sprintf("The value for %q exists only during one operation. "+
				"Declare the variable of the %s with ephemeral = true, or use another value.", v.Name, s.messages.owner)))
	}
	return values, diags
}

// problemWith is about the value of one variable.
func problemWith(name string, result expr.Result, summary, detail string) *hcl.Diagnostic {
	diag := result.Diagnostic(summary, detail)
	if e := attributeExpression(result.Expression, name); e != nil {
		diag.Subject, diag.Expression = e.Range().Ptr(), e
	}
	return diag
}

// convertOne returns the value of one variable. given is cty.NilVal when the
// argument has no such attribute.
func (s Set) convertOne(v *engine.Variable, given cty.Value, result expr.Result) (cty.Value, *hcl.Diagnostic) {
	absent := given == cty.NilVal
	if absent || IsNull(given) {
		switch {
		case !v.Required() && absent:
			return v.Default, nil
		case !v.Required():
			_, own := given.Unmark() // that it is null may be a secret
			return v.Default.WithMarks(own), nil
		case absent || !s.nullable:
			return cty.NilVal, s.missing(v, result)
		}
	}
	given = v.ApplyDefaults(given)
	converted, err := conversion.Convert(given, v.Type)
	if err != nil {
		return cty.NilVal, problemWith(v.Name, result, s.messages.doNotFit,
			fmt.Sprintf("The value for variable %q of the %s is not suitable: %s.", v.Name, s.messages.owner, marks.DescribeError(given, err)))
	}
	if stackconfig.HasProviderRef(converted.Type()) {
		return cty.NilVal, problemWith(v.Name, result, "Provider configurations cannot be inputs",
			fmt.Sprintf("The value for %q refers to a provider configuration. Assign it in the providers argument of a component.", v.Name))
	}
	return converted, nil
}

// IsNull reports whether a value is null, whatever its marks.
func IsNull(v cty.Value) bool {
	v, _ = v.Unmark()
	return v.IsNull()
}

// attributeExpression finds the expression of one attribute in an object
// constructor. It is nil when e is something else.
func attributeExpression(e hcl.Expression, name string) hcl.Expression {
	pairs, diags := hcl.ExprMap(e)
	if diags.HasErrors() {
		return nil
	}
	for _, pair := range pairs {
		if attributeKey(pair.Key) == name {
			return pair.Value
		}
	}
	return nil
}

// attributeKey returns a key of an object constructor that is written as a
// keyword or as a literal string; otherwise it is empty.
func attributeKey(e hcl.Expression) string {
	if keyword := hcl.ExprAsKeyword(e); keyword != "" {
		return keyword
	}
	v, diags := e.Value(nil)
	if diags.HasErrors() || v.IsNull() || !v.IsKnown() || v.Type() != cty.String {
		return ""
	}
	return v.AsString()
}

// Undeclared warns of attributes that no variable takes: they would be
// dropped silently, which hides misspelt names.
func (s Set) Undeclared(e hcl.Expression) hcl.Diagnostics {
	pairs, moreDiags := hcl.ExprMap(e)
	if moreDiags.HasErrors() || s.partial {
		return nil // not an object constructor: nothing to look through
	}
	declared := make(map[string]bool, len(s.variables))
	for _, v := range s.variables {
		declared[v.Name] = true
	}
	var diags hcl.Diagnostics
	for _, pair := range pairs {
		if name := attributeKey(pair.Key); name != "" && !declared[name] {
			diags = diags.Append(failure.WarningAt(pair.Key.Range(), "Input not declared",
				"The %s has no variable %q, so this value is not used.", s.messages.owner, name))
		}
	}
	return diags
}
