// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package module

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/gohcl"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/lang"
	"github.com/cairnstacks/cairn/internal/lang/scope"
	"github.com/cairnstacks/cairn/stackruntime/marks"
)

// constants are the values of a module that are known before anything is planned, when its calls
// are followed: those of constant variables, and of local values that consist of them. All other
// values are unknown.
type constants struct {
	node      *Node
	path      string // of the root module, from where relative names of files start
	loader    *Loader
	variables map[string]cty.Value // of the constant ones
	locals    map[string]cty.Value // those that were asked for
	diags     hcl.Diagnostics      // mistakes in local values
}

// address is the evaluated source of a call, with the constraint on its version.
type address struct {
	source      string
	version     string
	constrained bool // there is a version
}

// address evaluates the arguments of a call that lead to its module.
func (c *constants) address(call *Call) (address, hcl.Diagnostics) {
	source, diags := c.text(call.Source, "source", "path")
	found := address{}
	switch {
	case diags.HasErrors():
		return found, diags
	case source.IsNull():
		return found, append(diags, failure.At(call.SourceRange, "Unsuitable module source", "The source of module call %q is null. Write the "+
			"path of a directory, which begins with ./ or ../, or the address of a package.", call.Name))
	}
	if found.source = source.AsString(); found.source == "" {
		return found, append(diags, sourceError(call, "Empty source address", fmt.Sprintf("Module call %q has no address of a module. Write the "+
			"path of a directory, which begins with ./ or ../, or the address of a package.", call.Name)))
	}
	if call.Version == nil {
		return found, diags
	}
	version, moreDiags := c.text(call.Version, "version")
	diags = diags.Extend(moreDiags)
	if !moreDiags.HasErrors() && !version.IsNull() {
		found.version, found.constrained = version.AsString(), true
	}
	// Before terraform 1.15, and so for binaries, a version that is null is there nevertheless.
	found.constrained = found.constrained || c.loader.opts.Constants == nil
	return found, diags
}

// text evaluates an argument that is a string or null. It may refer to variables, local values and
// further symbols.
func (c *constants) text(expr *Expr, argument string, further ...string) (cty.Value, hcl.Diagnostics) {
	none := cty.NullVal(cty.String)
	if c.loader.opts.Constants == nil {
		if value, diags := expr.Static(); !diags.HasErrors() && value.IsNull() && argument == "version" {
			return none, diags
		}
		var text string
		diags := gohcl.DecodeExpression(expr, nil, &text)
		return cty.StringVal(text), diags
	}
	for _, traversal := range expr.Variables() {
		if root := traversal.RootName(); root != "var" && root != "local" && !slices.Contains(further, root) {
			return none, hcl.Diagnostics{failure.At(traversal.SourceRange(), "Invalid module "+argument, "The %s of a module is needed before "+
				"anything is planned. It can refer to constant variables only, and to local values that consist of them.", argument)}
		}
	}
	before := len(c.diags)
	value, diags := c.value(expr)
	if diags = append(diags, c.diags[before:]...); diags.HasErrors() {
		return none, diags
	}
	unknown := func(reason string) (cty.Value, hcl.Diagnostics) {
		return none, append(diags, failure.At(expr.Range(), "Unknown module "+argument, "%s", reason))
	}
	if marks.Contains(value, marks.Sensitive) || marks.Contains(value, marks.Ephemeral) {
		return unknown(fmt.Sprintf("The %s of a module is no secret: it cannot come from sensitive or ephemeral values.", argument))
	}
	value, _ = value.UnmarkDeep()
	if !value.IsKnown() {
		return unknown(fmt.Sprintf("The %s of a module is needed before anything is planned, when only constant variables are known: those "+
			"with const = true. This value depends on something else.", argument))
	}
	text, err := convert.Convert(value, cty.String)
	if err != nil {
		return none, append(diags, failure.At(expr.Range(), "Unsuitable module "+argument, "The %s of a module is a string: %s.", argument, err))
	}
	return text, diags
}

// value evaluates an expression with the constants of the module.
func (c *constants) value(expr *Expr) (cty.Value, hcl.Diagnostics) {
	if value, diags := expr.literal(); !diags.HasErrors() {
		return value, diags
	}
	names := scope.Table{}
	for _, traversal := range expr.Variables() {
		root := traversal.RootName()
		attr, ok := hcl.TraverseAttr{}, false
		if len(traversal) > 1 {
			attr, ok = traversal[1].(hcl.TraverseAttr)
		}
		switch {
		case root == "var" && ok:
			names.Set(c.variable(attr.Name), root, attr.Name)
		case root == "local" && ok:
			names.Set(c.local(attr.Name), root, attr.Name)
		case root == "path" && ok:
			names.Set(c.pathOf(attr.Name), root, attr.Name)
		default:
			names.Set(cty.DynamicVal, root)
		}
	}
	functions := c.loader.functions().In(c.path)
	within := lang.Options{Allowance: c.loader.allowance()}
	return within.Evaluate(context.Background(), expr.Expression, &hcl.EvalContext{Functions: functions, Variables: names.Variables()})
}

// literal returns the value of an expression that refers to nothing, and calls no function.
func (e *Expr) literal() (cty.Value, hcl.Diagnostics) {
	return e.Value(&hcl.EvalContext{}) // without a context, templates in JSON are texts
}

func (c *constants) variable(name string) cty.Value {
	if value, ok := c.variables[name]; ok {
		return value
	}
	return cty.DynamicVal
}

func (c *constants) local(name string) cty.Value {
	if value, ok := c.locals[name]; ok {
		return value
	}
	local := c.node.Locals[name]
	if local == nil {
		return cty.DynamicVal // validating reports it
	}
	c.locals[name] = cty.DynamicVal // in a cycle, which validating reports
	value, diags := c.value(local.Value)
	c.diags = append(c.diags, diags...)
	c.locals[name] = value
	return value
}

func (c *constants) pathOf(attr string) cty.Value {
	switch attr {
	case "module":
		return cty.StringVal(c.node.Path)
	case "root":
		return cty.StringVal(".")
	default:
		return cty.DynamicVal // of a run
	}
}

// ofRoot sets the values of constant variables of a component's module.
func (c *constants) ofRoot() hcl.Diagnostics {
	var diags hcl.Diagnostics
	variables := c.node.constantVariables()
	if len(variables) == 0 {
		return nil
	}
	given := c.loader.opts.Constants(c.node.Dir)
	for _, variable := range variables {
		value := cty.NilVal
		if constant, ok := given[variable.Name]; ok {
			value = constant.Value
			switch {
			case constant.Other != nil:
				diags = append(diags, failure.At(constant.Range, "Constant variable with two values", "The variable %q of the module is constant: "+
					"it may decide which modules this one calls. Another component of the same module gives it another value, at %s. Let one of "+
					"the components use a module of its own that calls this one.", variable.Name, constant.Other))
			case !value.IsWhollyKnown():
				diags = append(diags, failure.At(constant.Range, "Unknown value of constant variable", "The variable %q of the module is constant: "+
					"its value is needed before anything is planned. Write it here without references and function calls.", variable.Name))
				continue
			case value.IsNull() && !variable.Required():
				value = cty.NilVal // as for any argument of a component
			}
		} else if variable.Required() {
			diags = append(diags, failure.At(variable.Range, "No value for constant variable", "The variable %q is constant, and has no default: "+
				"its value is needed before anything is planned, and no component gives it one. A default serves where a removed block names the "+
				"module, too.", variable.Name))
			continue
		}
		diags = append(diags, c.set(variable, value, given[variable.Name].Range)...)
	}
	return append(diags, c.check(func(v *Variable) hcl.Range { return v.Range })...)
}

// ofCall sets the values of constant variables of a called module.
func (c *constants) ofCall(caller *constants) hcl.Diagnostics {
	var diags hcl.Diagnostics
	for _, variable := range c.node.constantVariables() {
		expr := c.node.Call.Inputs[variable.Name]
		if expr == nil {
			if !variable.Required() { // otherwise validating reports it
				diags = append(diags, c.set(variable, cty.NilVal, c.node.Call.Range)...)
			}
			continue
		}
		before := len(caller.diags)
		value, moreDiags := caller.value(expr)
		diags = append(append(diags, moreDiags...), caller.diags[before:]...)
		if moreDiags.HasErrors() {
			continue
		}
		if !value.IsWhollyKnown() {
			diags = append(diags, failure.At(expr.Range(), "Unknown value of constant variable", "The variable %q of the called module is "+
				"constant: its value is needed before anything is planned, when only constant variables are known, those with const = true. "+
				"This value depends on something else.", variable.Name))
			continue
		}
		diags = append(diags, c.set(variable, value, expr.Range())...)
	}
	return append(diags, c.check(func(v *Variable) hcl.Range {
		if expr := c.node.Call.Inputs[v.Name]; expr != nil {
			return expr.Range()
		}
		return v.Range
	})...)
}

func (c *constants) set(variable *Variable, given cty.Value, at hcl.Range) hcl.Diagnostics {
	value, refusal := variable.Accept(given)
	if refusal != nil {
		return hcl.Diagnostics{failure.At(at, refusal.Summary, "%s", refusal.Detail)}
	}
	c.variables[variable.Name] = value
	return nil
}

// check reports the values for which a condition of their variables does not hold, at places that
// depend on the variable. A condition or message that is not a constant is left to the plan, which
// checks all of them.
func (c *constants) check(place func(*Variable) hcl.Range) hcl.Diagnostics {
	var diags hcl.Diagnostics
	before := len(c.diags)
	for _, variable := range c.node.constantVariables() {
		if _, ok := c.variables[variable.Name]; !ok {
			continue // reported
		}
		for _, rule := range variable.Validations {
			holds, ok := c.plain(rule.Condition, cty.Bool)
			if !ok || holds.True() {
				continue
			}
			message := cty.StringVal("The condition does not hold.")
			if rule.ErrorMessage != nil {
				if message, ok = c.plain(rule.ErrorMessage, cty.String); !ok {
					continue
				}
			}
			diags = append(diags, failure.At(place(variable), "Invalid value for variable", "%s\n\nThis was checked by the validation rule at %s.",
				strings.TrimSpace(message.AsString()), rule.Range))
		}
	}
	return append(diags, c.diags[before:]...)
}

// plain evaluates an expression, and reports whether the value is known, not null, of a type, and
// nothing to hide.
func (c *constants) plain(expr *Expr, typ cty.Type) (cty.Value, bool) {
	value, diags := c.value(expr)
	if diags.HasErrors() || marks.Contains(value, marks.Sensitive) || marks.Contains(value, marks.Ephemeral) {
		return cty.NilVal, false
	}
	value, _ = value.UnmarkDeep()
	value, err := convert.Convert(value, typ)
	return value, err == nil && value.IsKnown() && !value.IsNull()
}
