// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package wiring

import (
	"cmp"
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/nearest"
	"github.com/cairnstacks/cairn/internal/problem"
)

// Origin is a unit as a file refers to it.
type Origin struct {
	Stack      string
	Deployment string // "" where none is written
}

// Reference is to an output of a unit.
type Reference struct {
	Origin
	Output string // "" for all of them

	Text       string    // as it is written, without the rest after the output
	Range      hcl.Range // the same
	StackRange hcl.Range // of the name of the stack
}

// Input is the value of one variable.
type Input struct {
	Name      string
	NameRange hcl.Range
	Expr      hcl.Expression
	Text      string // as it is written, with the local values that it is made of
}

// Local is a local value of the file.
type Local struct {
	Expr  hcl.Expression
	Range hcl.Range // of the name
}

// Inputs are the values of variables of one unit. They do not change.
type Inputs struct {
	Inputs []Input // by name
	Locals map[string]Local
	Dir    string // that paths in calls of functions start from
	File   *hcl.File
}

// Parse reads the object of an "inputs" argument, whose keys are the names of variables. References
// are checked as far as that is possible without knowing the units that there are.
func Parse(expr hcl.Expression, locals map[string]Local, file *hcl.File) (*Inputs, hcl.Diagnostics) {
	pairs, diags := hcl.ExprMap(expr)
	if diags.HasErrors() {
		return nil, hcl.Diagnostics{problem.New(problem.BadValue, expr.Range().Ptr(), "Invalid inputs",
			"The inputs must be an object that is written out, with a variable's name and its value in each entry: "+
				"{ vpc = stack.network.output.vpc_id }.")}
	}
	inputs := &Inputs{Locals: locals, File: file}
	seen := map[string]bool{}
	for _, pair := range pairs {
		name, ok := keyOf(pair.Key)
		switch {
		case !ok || !hclsyntax.ValidIdentifier(name):
			diags = diags.Append(problem.New(problem.BadValue, pair.Key.Range().Ptr(), "Invalid input name",
				"Each key of the inputs is the name of a variable, which is written out."))
			continue
		case seen[name]:
			diags = diags.Append(problem.New(problem.DuplicateID, pair.Key.Range().Ptr(), "Duplicate input",
				"There is already a value for the variable %q. Remove one of the two.", name))
			continue
		}
		seen[name] = true
		input := Input{Name: name, NameRange: pair.Key.Range(), Expr: pair.Value}
		_, moreDiags := inputs.referencesOf(input)
		diags = diags.Extend(moreDiags).Extend(inputs.impure(pair.Value))
		if !moreDiags.HasErrors() {
			input.Text = inputs.text(pair.Value)
		}
		inputs.Inputs = append(inputs.Inputs, input)
	}
	slices.SortFunc(inputs.Inputs, func(a, b Input) int { return cmp.Compare(a.Name, b.Name) })
	return inputs, diags
}

// keyOf returns a key of an object that is written out.
func keyOf(expr hcl.Expression) (string, bool) {
	if word := hcl.ExprAsKeyword(expr); word != "" {
		return word, true
	}
	value, diags := expr.Value(nil)
	if diags.HasErrors() || value.IsNull() || !value.IsKnown() || value.Type() != cty.String {
		return "", false
	}
	return value.AsString(), true
}

// impureNames are the functions of rule N4.
var impureNames = []string{"bcrypt", "plantimestamp", "timestamp", "uuid"}

// impure reports calls against rule N4.
func (in *Inputs) impure(expr hcl.Expression) hcl.Diagnostics {
	var diags hcl.Diagnostics
	in.walk(expr, func(node hclsyntax.Node) {
		if call, ok := node.(*hclsyntax.FunctionCallExpr); ok && slices.Contains(impureNames, call.Name) {
			diags = diags.Append(problem.New(problem.BadValue, &call.NameRange, "Impure function in inputs",
				"The function %q gives another result at each call, and inputs are evaluated again when a plan is applied. "+
					"Call it in the stack.", call.Name))
		}
	})
	return diags
}

// walk visits an expression and the local values that it is made of, each once.
func (in *Inputs) walk(expr hcl.Expression, visit func(hclsyntax.Node)) {
	seen := map[string]bool{}
	var walk func(hcl.Expression)
	walk = func(expr hcl.Expression) {
		if node, ok := expr.(hclsyntax.Node); ok {
			_ = hclsyntax.VisitAll(node, func(node hclsyntax.Node) hcl.Diagnostics { //nolint:errcheck // it has only the diagnostics of the function
				visit(node)
				return nil
			})
		}
		for _, traversal := range expr.Variables() {
			if name := localName(traversal); name != "" && !seen[name] {
				seen[name] = true
				if local, ok := in.Locals[name]; ok {
					walk(local.Expr)
				}
			}
		}
	}
	walk(expr)
}

// localName returns the name of the local value that a traversal begins with, "" for other things.
func localName(traversal hcl.Traversal) string {
	if traversal.RootName() != "local" || len(traversal) < 2 {
		return ""
	}
	name, _ := stepName(traversal[1])
	return name
}

// text is an expression as written, with its local values in the order of their names.
func (in *Inputs) text(expr hcl.Expression) string {
	if in.File == nil {
		return ""
	}
	text := string(expr.Range().SliceBytes(in.File.Bytes))
	for _, name := range in.localsOf(expr) {
		text += "\n" + name + "=" + string(in.Locals[name].Expr.Range().SliceBytes(in.File.Bytes))
	}
	return text
}

// localsOf returns the names of the local values that an expression is made of, at any distance,
// sorted.
func (in *Inputs) localsOf(expr hcl.Expression) []string {
	names := map[string]bool{}
	in.walk(expr, func(node hclsyntax.Node) {
		if scope, ok := node.(*hclsyntax.ScopeTraversalExpr); ok {
			if name := localName(scope.Traversal); name != "" {
				names[name] = true
			}
		}
	})
	return slices.Sorted(maps.Keys(names))
}

// References returns the references of the inputs, in the order of inputs, also by local values.
// They were checked by [Parse].
func (in *Inputs) References() map[string][]Reference {
	references := map[string][]Reference{}
	for _, input := range in.Inputs {
		references[input.Name], _ = in.referencesOf(input) //nolint:errcheck // reported by Parse
	}
	return references
}

// referencesOf returns the references of one input.
func (in *Inputs) referencesOf(input Input) ([]Reference, hcl.Diagnostics) {
	var found []Reference
	var diags hcl.Diagnostics
	done := map[string]bool{}
	var follow func(expr hcl.Expression, within []string)
	follow = func(expr hcl.Expression, within []string) {
		for _, traversal := range expr.Variables() {
			switch traversal.RootName() {
			case "stack":
				reference, diag := in.parseReference(traversal)
				if diag != nil {
					diags = diags.Append(diag)
					continue
				}
				found = append(found, reference)
			case "local":
				name := localName(traversal)
				local, ok := in.Locals[name]
				at := traversal.SourceRange()
				switch {
				case !ok:
					diags = diags.Append(problem.New(problem.UnknownRef, &at, "Unknown local value", "There is no local value %q in this file.%s", name,
						nearest.DidYouMean(name, slices.Collect(maps.Keys(in.Locals)))))
				case slices.Contains(within, name):
					diags = diags.Append(problem.New(problem.Cycle, &at, "Cycle of local values", "The local value %q is made of itself.", name))
				case !done[name]:
					done[name] = true
					follow(local.Expr, append(slices.Clone(within), name))
				}
			default:
				at := traversal.SourceRange()
				diags = diags.Append(problem.New(problem.UnknownRef, &at, "Unknown reference", "There is no %q here. "+
					"Inputs refer to outputs of others, as stack.NAME.output.OUTPUT, and to local values of this file, as local.NAME.%s",
					traversal.RootName(), nearest.DidYouMean(traversal.RootName(), []string{"stack", "local"})))
			}
		}
	}
	follow(input.Expr, nil)
	return found, diags
}

// stepName returns the name that a step is, if it is written out.
func stepName(step hcl.Traverser) (string, hcl.Range) {
	switch step := step.(type) {
	case hcl.TraverseAttr:
		return step.Name, step.SrcRange
	case hcl.TraverseIndex:
		if step.Key.Type() == cty.String && step.Key.IsKnown() && !step.Key.IsNull() {
			return step.Key.AsString(), step.SrcRange
		}
		return "", step.SrcRange
	}
	return "", hcl.Range{}
}

// parseReference reads stack.NAME.output.OUTPUT and stack.NAME.deployment["NAME"].output.OUTPUT
// (rule N1).
func (in *Inputs) parseReference(traversal hcl.Traversal) (Reference, *hcl.Diagnostic) {
	whole := traversal.SourceRange()
	bad := func() *hcl.Diagnostic {
		return problem.New(problem.BadValue, &whole, "Invalid reference to an output",
			"Outputs are referred to as stack.NAME.output.OUTPUT, or stack.NAME.deployment[\"NAME\"].output.OUTPUT, "+
				"with names that are written out.")
	}
	steps := traversal[1:]
	next := func() (name string, at hcl.Range) {
		if len(steps) == 0 {
			return "", whole
		}
		name, at = stepName(steps[0])
		steps = steps[1:]
		return name, at
	}
	reference := Reference{}
	if reference.Stack, reference.StackRange = next(); reference.Stack == "" {
		return reference, bad()
	}
	word, end := next()
	if word == "deployment" {
		if reference.Deployment, _ = next(); reference.Deployment == "" {
			return reference, bad()
		}
		word, end = next()
	}
	if word != "output" {
		if word != "" {
			return reference, problem.New(problem.BadValue, &end, "Invalid reference to an output",
				"A stack has no %q here: others see its outputs, as stack.%s.output.OUTPUT.%s",
				word, reference.Stack, nearest.DidYouMean(word, []string{"output", "deployment"}))
		}
		return reference, bad()
	}
	if len(steps) > 0 {
		if reference.Output, end = next(); reference.Output == "" {
			return reference, bad()
		}
	}
	reference.Range = hcl.RangeBetween(traversal[0].SourceRange(), end)
	reference.Text = referenceText(reference)
	return reference, nil
}

// referenceText writes a reference as it is usually written.
func referenceText(r Reference) string {
	text := "stack." + r.Stack
	if !hclsyntax.ValidIdentifier(r.Stack) {
		text = "stack[" + quoted(r.Stack) + "]"
	}
	if r.Deployment != "" {
		text += ".deployment[" + quoted(r.Deployment) + "]"
	}
	text += ".output"
	if r.Output != "" {
		text += "." + r.Output
	}
	return text
}

func quoted(text string) string { return `"` + text + `"` }
