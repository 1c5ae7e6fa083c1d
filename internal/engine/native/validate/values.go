// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package validate

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/cairnstacks/cairn/internal/bounds"
	"github.com/cairnstacks/cairn/internal/module"
	"github.com/cairnstacks/cairn/internal/module/refs"
	"github.com/cairnstacks/cairn/stackruntime/marks"
)

// variableValue returns the value of a variable.
func (m *moduleChecker) variableValue(name string) cty.Value {
	v := m.tree.Variables[name]
	value, given := m.inputs[name]
	if !given {
		value = cty.UnknownVal(v.Type.WithoutOptionalAttributesDeep())
	}
	return marks.Declared(value, v.Sensitive, v.Ephemeral)
}

func (m *moduleChecker) variable(v *module.Variable) {
	own := refs.Subject{Kind: refs.Variable, Name: v.Name}
	for _, rule := range v.Validations {
		if !slices.ContainsFunc(rule.Condition.Refs, func(ref refs.Reference) bool { return ref.Subject == own }) && !placeholder(rule.Condition) {
			m.problem(rule.Condition.Range(), "Validation of another value", fmt.Sprintf("The condition must refer to var.%s, the value that it is for.", v.Name))
			continue
		}
		m.condition(rule, place{})
	}
}

// placeholder reports whether an expression stands for one that is missing, which was reported.
func placeholder(expr *module.Expr) bool {
	value, diags := expr.Value(nil)
	return !diags.HasErrors() && value == cty.DynamicVal
}

// condition checks a condition and its message.
func (m *moduleChecker) condition(rule *module.Condition, at place) {
	if len(rule.Condition.Refs) == 0 {
		if !placeholder(rule.Condition) {
			m.problem(rule.Condition.Range(), "Condition without references", "The condition refers to nothing, and so is always true or always false.")
		}
		return
	}
	value, ok := m.eval(rule.Condition, at)
	if ok {
		value, _ = value.Unmark()
		if converted, err := convert.Convert(value, cty.Bool); err != nil || converted.IsNull() {
			m.problem(rule.Condition.Range(), "Invalid condition result", "A condition is true or false. This one is neither.")
		}
	}
	message, ok := m.eval(rule.ErrorMessage, at)
	if !ok {
		return
	}
	message, _ = message.Unmark() // hidden values are reported where the condition does not hold
	if converted, err := convert.Convert(message, cty.String); err != nil || converted.IsNull() {
		m.problem(rule.ErrorMessage.Range(), "Invalid error message", "The message must be a string.")
	}
}

// local returns the value of a local value. In a cycle, which is reported otherwise, it is unknown.
func (m *moduleChecker) local(name string) cty.Value {
	value, known := m.locals[name]
	if !known {
		m.locals[name] = cty.DynamicVal
		value, _ = m.eval(m.tree.Locals[name].Value, place{})
		m.locals[name] = value
	}
	return value
}

func (m *moduleChecker) output(output *module.Output) {
	m.references(output.DependsOn, place{})
	for _, rule := range output.Preconditions {
		m.condition(rule, place{})
	}
	value, ok := m.eval(output.Value, place{})
	at := output.Value.Range()
	switch {
	case !ok:
	case m.tree.Parent == nil && !output.Sensitive && marks.Contains(value, marks.Sensitive):
		m.problem(output.Range, "Output refers to sensitive values", fmt.Sprintf("To show that this is meant, declare output %q with sensitive = true.", output.Name))
	case !output.Ephemeral && marks.Contains(value, marks.Ephemeral):
		m.problem(at, "Ephemeral value not allowed", fmt.Sprintf("Output %q is not declared with ephemeral = true, so its value cannot be ephemeral.", output.Name))
	}
}

// call checks a module call, and returns the values of variables of the module.
func (m *moduleChecker) call(call *module.Call) map[string]cty.Value {
	m.repeat(call.Repeat, place{})
	m.references(call.DependsOn, place{})
	at := place{repeat: call.Repeat}
	child := m.tree.Children[call.Name]
	values := make(map[string]cty.Value, len(call.Inputs))
	for _, name := range sorted(call.Inputs) {
		expr := call.Inputs[name]
		if child != nil && child.Variables[name] == nil {
			m.problem(call.Names[name], "Unsupported argument", fmt.Sprintf("The module has no variable %q.%s", name, m.hints.DidYouMean(name, maps.Keys(child.Variables))))
			continue
		}
		value, ok := m.eval(expr, at)
		if child == nil {
			continue
		}
		values[name] = cty.UnknownVal(child.Variables[name].Type.WithoutOptionalAttributesDeep())
		if ok {
			values[name] = m.input(child.Variables[name], value, expr.Range())
		}
	}
	if child != nil {
		m.missingInputs(call, child)
		m.passed(call, child)
	}
	return values
}

func (m *moduleChecker) missingInputs(call *module.Call, child *module.Node) {
	for _, name := range sorted(child.Variables) {
		if v := child.Variables[name]; v.Required() && call.Inputs[name] == nil {
			m.problem(call.Range, "Missing required argument", fmt.Sprintf("The variable %q of the module has no default, so that the call must give it a value.", name))
		}
	}
}

// input returns the value of a variable of a called module, by that of its argument.
func (m *moduleChecker) input(v *module.Variable, value cty.Value, at hcl.Range) cty.Value {
	ty := v.Type.WithoutOptionalAttributesDeep()
	if !v.Ephemeral && marks.Contains(value, marks.Ephemeral) {
		m.problem(at, "Ephemeral value not allowed", fmt.Sprintf("The variable %q is not declared with ephemeral = true, so its value cannot be ephemeral.", v.Name))
		return cty.UnknownVal(ty)
	}
	if !value.IsNull() {
		value = v.ApplyDefaults(value)
	}
	converted, err := bounds.Convert(value, v.Type)
	if err != nil {
		m.problem(at, "Invalid value for variable", fmt.Sprintf("The value does not fit the type of the variable %q: %s.", v.Name, explain(err, value)))
		return cty.UnknownVal(ty)
	}
	if converted.IsNull() && !v.Nullable {
		if v.Required() {
			m.problem(at, "Invalid value for variable", fmt.Sprintf("The variable %q does not take null.", v.Name))
			return cty.UnknownVal(ty)
		}
		return v.Default
	}
	return converted
}

func (m *moduleChecker) check(check *module.Check) {
	for _, rule := range check.Assertions {
		m.condition(rule, place{check: check})
	}
}

// explain returns the text of an error of a conversion. Of values that are not to be shown it says
// little.
func explain(err error, value cty.Value) string {
	if value.ContainsMarked() {
		return "which part is not shown, because the value is sensitive or ephemeral"
	}
	if at, ok := errors.AsType[cty.PathError](err); ok && len(at.Path) > 0 {
		return marks.DescribePath(at.Path) + ": " + at.Error()
	}
	return err.Error()
}
