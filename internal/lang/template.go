// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package lang

import (
	"context"
	"fmt"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/ext/customdecode"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
	"github.com/zclconf/go-cty/cty/function"

	"github.com/cairnstacks/cairn/internal/bounds"
	"github.com/cairnstacks/cairn/internal/safehcl"
)

// Positions of the arguments that both template functions take.
const (
	templateArg = iota
	variablesArg
)

// templateFunctions are the functions that templates can call.
type templateFunctions struct {
	table func() map[string]function.Function
	find  findProviderFunction // nil if there are no providers

	allowance *bounds.Allowance // for rendering them
}

// evalContext returns the context for the template, yet without variables.
func (f templateFunctions) evalContext(template hclsyntax.Expression) (*hcl.EvalContext, error) {
	evalContext := &hcl.EvalContext{Functions: f.table()}
	if f.find == nil {
		return evalContext, nil
	}
	functions, diags := findAll(providerCalls(template), f.find)
	if diags.HasErrors() {
		return nil, function.NewArgErrorf(templateArg, "%w", diags)
	}
	if len(functions) > 0 {
		evalContext = evalContext.NewChild()
		evalContext.Functions = functions
	}
	return evalContext, nil
}

var variablesParameter = function.Parameter{Name: "vars", Type: cty.DynamicPseudoType, AllowMarked: true}

// recursiveTemplateFunction stands for a template function inside a template.
func recursiveTemplateFunction(name string) function.Function {
	arguments := anyValue("arguments")
	return function.New(&function.Spec{
		Description: "Fails: templates cannot render templates.",
		VarParam:    &arguments,
		Type: func([]cty.Value) (cty.Type, error) {
			return cty.NilType, fmt.Errorf("%s cannot be called from inside a template", name)
		},
	})
}

// templateFileFunction makes templatefile. The result of a template that is a single interpolation
// has the type of the interpolated value, so the file is rendered to find the type.
func templateFileFunction(opts Options, functions templateFunctions) function.Function {
	render := func(args []cty.Value) (cty.Value, error) {
		template, own, err := loadTemplate(opts, args[templateArg])
		if err != nil {
			return cty.NilVal, err
		}
		if template == nil {
			return cty.DynamicVal.WithMarks(own), nil
		}
		result, err := renderTemplate(template, args[variablesArg], functions)
		if err != nil {
			return cty.NilVal, err
		}
		return result.WithMarks(own), nil
	}

	return function.New(&function.Spec{
		Description: "Renders the template in a file.",
		Params:      []function.Parameter{pathParameter, variablesParameter},
		Type: func(args []cty.Value) (cty.Type, error) {
			if !args[templateArg].IsKnown() || !args[variablesArg].IsKnown() {
				return cty.DynamicPseudoType, nil
			}
			result, err := render(args)
			if err != nil {
				return cty.NilType, err
			}
			return result.Type(), nil
		},
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			return render(args)
		},
	})
}

// loadTemplate returns no template if the file is outside of the directories to stay in.
func loadTemplate(opts Options, path cty.Value) (hclsyntax.Expression, cty.ValueMarks, error) {
	f, err := fileAt(opts, path)
	if err != nil {
		return nil, nil, err
	}
	if f.outside {
		return nil, f.marks, nil
	}
	source, err := f.readText()
	if err != nil {
		return nil, nil, err
	}
	displayed := f.name
	if len(f.marks) == 0 {
		bare, _ := path.Unmark()
		displayed = bare.AsString()
	}
	template, diags := safehcl.ParseTemplate([]byte(source), displayed, hcl.InitialPos)
	if diags.HasErrors() {
		return nil, nil, function.NewArgErrorf(templateArg, "not a valid template: %w", diags)
	}
	return template, f.marks, nil
}

// templateStringFunction makes templatestring, whose first argument must be written as a reference:
// a template that stands in the configuration itself needs no function.
func templateStringFunction(functions templateFunctions) function.Function {
	variables := variablesParameter
	variables.AllowUnknown, variables.AllowDynamicType = true, true // the template may carry marks
	return functionOf(cty.String, "Renders a template that a reference leads to.",
		[]function.Parameter{{Name: "template", Type: customdecode.ExpressionClosureType}, variables},
		func(args []cty.Value) (cty.Value, error) {
			source, err := referencedTemplate(customdecode.ExpressionClosureFromVal(args[templateArg]))
			if err != nil {
				return cty.NilVal, err
			}
			source, own := source.Unmark()
			if !source.IsKnown() || !args[variablesArg].IsKnown() {
				_, variableMarks := args[variablesArg].UnmarkDeep()
				return cty.UnknownVal(cty.String).WithMarks(own, variableMarks), nil
			}
			template, diags := safehcl.ParseTemplate([]byte(source.AsString()), "<template string>", hcl.InitialPos)
			if diags.HasErrors() {
				if len(own) > 0 {
					return cty.NilVal, function.NewArgErrorf(templateArg, "not a valid template; the details are hidden because the template is")
				}
				return cty.NilVal, function.NewArgErrorf(templateArg, "not a valid template: %w", diags)
			}
			result, err := renderTemplate(template, args[variablesArg], functions)
			switch {
			case err != nil && len(own) > 0:
				return cty.NilVal, function.NewArgErrorf(templateArg, "the template cannot be rendered; the details are hidden because the template is")
			case err != nil:
				return cty.NilVal, err
			}
			text, err := convert.Convert(result, cty.String)
			if err != nil {
				return cty.NilVal, function.NewArgErrorf(templateArg, "the result of the template is not a string")
			}
			return text.WithMarks(own), nil
		})
}

// referencedTemplate returns the template text, which is never null but may be unknown or marked.
func referencedTemplate(closure *customdecode.ExpressionClosure) (cty.Value, error) {
	switch closure.Expression.(type) {
	case *hclsyntax.TemplateExpr:
		return cty.NilVal, function.NewArgErrorf(templateArg,
			"this is a template already; write it where its result is needed, without the function")
	case *hclsyntax.TemplateWrapExpr:
		return cty.NilVal, function.NewArgErrorf(templateArg, "write the reference alone, without quotes and ${…} around it")
	}
	if !isReference(closure.Expression) {
		return cty.NilVal, function.NewArgErrorf(templateArg, "need a plain reference to a string that holds a template")
	}
	source, diags := closure.Value()
	if diags.HasErrors() {
		return cty.NilVal, function.NewArgErrorf(templateArg, "no template there: %w", diags)
	}
	if !source.IsKnown() { // also where it is not going to be a string: the error comes with the value, as in terraform
		_, own := source.Unmark()
		return cty.UnknownVal(cty.String).WithMarks(own), nil
	}
	if source.Type() != cty.String || source.IsNull() {
		return cty.NilVal, function.NewArgErrorf(templateArg, "need a reference to a string; this one leads to %s", describeNonString(source))
	}
	return source, nil
}

func describeNonString(value cty.Value) string {
	if value.IsNull() {
		return "null"
	}
	return value.Type().FriendlyName()
}

func isReference(expr hcl.Expression) bool {
	if index, ok := expr.(*hclsyntax.IndexExpr); ok {
		return isReference(index.Collection) // the key may be any expression
	}
	if relative, ok := expr.(*hclsyntax.RelativeTraversalExpr); ok {
		return isReference(relative.Source)
	}
	_, diags := hcl.AbsTraversalForExpr(expr)
	return !diags.HasErrors()
}

// renderTemplate evaluates a template with the variables, a known object or map, and nothing else.
// The result is never null, and carries the marks of all variables, used or not.
func renderTemplate(template hclsyntax.Expression, variables cty.Value, functions templateFunctions) (cty.Value, error) {
	variables, own := variables.UnmarkDeep()
	if ty := variables.Type(); !ty.IsObjectType() && !ty.IsMapType() {
		return cty.NilVal, function.NewArgErrorf(variablesArg, "need a map or an object")
	}
	evalContext, err := functions.evalContext(template)
	if err != nil {
		return cty.NilVal, err
	}
	evalContext.Variables = variables.AsValueMap()
	for name := range variables.Elements() {
		if text := name.AsString(); !hclsyntax.ValidIdentifier(text) {
			return cty.NilVal, function.NewArgErrorf(variablesArg,
				"%s cannot be the name of a template variable: a name is a letter followed by letters, digits, - and _", quoted(text, own))
		}
	}
	for _, traversal := range template.Variables() {
		root := traversal.RootName()
		if _, given := evalContext.Variables[root]; !given {
			return cty.NilVal, function.NewArgErrorf(variablesArg,
				"the template needs a variable %q, at %s, that is not given", root, traversal.SourceRange())
		}
	}
	// The context of the evaluation that calls this is not known here; loops in it observe that.
	result, diags := bounds.Evaluate(context.Background(), template, evalContext, functions.allowance)
	if diags.HasErrors() {
		if len(own) > 0 { // the details may quote variables (rule L3)
			return cty.NilVal, fmt.Errorf("%s: the template fails there; the details are hidden, because a variable is sensitive or ephemeral",
				diags[0].Subject)
		}
		return cty.NilVal, diags
	}
	if bare, _ := result.Unmark(); bare.IsNull() {
		return cty.NilVal, function.NewArgErrorf(variablesArg, "the result of the template is null")
	}
	return result.WithMarks(own), nil
}
