// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package wiring

import (
	"context"
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/diagnostic/identity"
	"github.com/cairnstacks/cairn/internal/lang"
	"github.com/cairnstacks/cairn/internal/lang/scope"
	"github.com/cairnstacks/cairn/internal/nearest"
	"github.com/cairnstacks/cairn/internal/problem"
	"github.com/cairnstacks/cairn/stackruntime/marks"
)

// Outputs are the outputs of a unit for others.
type Outputs struct {
	// Values are by name. Unknown: in whole or in part, where they are not known before an apply.
	// Marks: sensitive.
	Values map[string]cty.Value

	// Open says that the names are not known yet either: there may be any.
	Open bool

	// Stored says that they are those of the last apply, not of a plan.
	Stored bool

	// Missing says in sentences why there are none, and how to get some; "" if there may be some.
	Missing string
}

// Value is the value of an input.
type Value struct {
	Name  string
	Value cty.Value // Marks: sensitive
	Range hcl.Range // of its expression
}

// Values evaluates the inputs, in the order of their names. The function returns the outputs of a
// unit that inputs refer to.
func (in *Inputs) Values(outputs func(Origin) (Outputs, error)) ([]Value, hcl.Diagnostics) {
	e := evaluation{in: in, of: map[Origin]Outputs{}, locals: scope.Table{"local": scope.Table{}}}
	references := in.References()
	var diags hcl.Diagnostics
	for _, input := range in.Inputs {
		for _, reference := range references[input.Name] {
			if _, known := e.of[reference.Origin]; !known {
				of, err := outputs(reference.Origin)
				if err != nil {
					diags = diags.Append(problem.New(problem.BadValue, &reference.Range, "Outputs not available",
						"The outputs of %q cannot be read: %s.", reference.Stack, err))
					of = Outputs{Open: true} // outputs that may exist are not reported as missing
				}
				e.of[reference.Origin] = of
			}
			diags = diags.Extend(e.check(reference))
		}
	}
	if diags.HasErrors() {
		return nil, identity.Distinct(diags)
	}
	e.context(references)
	diags = diags.Extend(e.diags)
	var values []Value
	for _, input := range in.Inputs {
		value, moreDiags := lang.Evaluate(context.Background(), input.Expr, e.ctx)
		diags = diags.Extend(moreDiags)
		if marks.Contains(value, marks.Ephemeral) {
			diags = diags.Append(problem.New(problem.BadValue, input.Expr.Range().Ptr(), "Ephemeral input",
				"The value of %q is ephemeral: it exists in one operation only, and no other stack can have it.", input.Name))
		}
		values = append(values, Value{input.Name, value, input.Expr.Range()})
	}
	if diags.HasErrors() {
		return nil, identity.Distinct(diags)
	}
	return values, diags
}

type evaluation struct {
	in     *Inputs
	of     map[Origin]Outputs
	locals scope.Table
	ctx    *hcl.EvalContext

	diags hcl.Diagnostics // about local values
}

// check checks that the target of a reference exists.
func (e *evaluation) check(r Reference) hcl.Diagnostics {
	of := e.of[r.Origin]
	_, known := of.Values[r.Output]
	switch {
	case of.Missing != "":
		return hcl.Diagnostics{problem.New(problem.BadValue, &r.Range, "Outputs not available", "%s", of.Missing)}
	case r.Output == "" || known || of.Open:
		return nil
	}
	hint := nearest.DidYouMean(r.Output, slices.Sorted(maps.Keys(of.Values)))
	if of.Stored {
		hint += " These are the outputs in its state: others appear there with the next apply."
	}
	return hcl.Diagnostics{problem.New(problem.UnknownRef, &r.Range, "Unknown output", "%s has no output %q.%s", r.Stack, r.Output, hint)}
}

// context makes the scope of all inputs.
func (e *evaluation) context(references map[string][]Reference) {
	stacks := &hcl.EvalContext{
		Variables: e.stacks(references).Variables(),
		Functions: lang.Functions(lang.Options{BaseDir: e.in.Dir, PureOnly: true}),
	}
	e.ctx = stacks.NewChild()
	evaluated := map[string]bool{}
	for _, input := range e.in.Inputs {
		for _, name := range e.in.localsOf(input.Expr) {
			e.local(name, evaluated)
		}
	}
	e.ctx.Variables = e.locals.Variables()
}

// local evaluates a local value, those that it is made of first. There is no cycle, as [Parse] has
// made sure.
func (e *evaluation) local(name string, evaluated map[string]bool) {
	if evaluated[name] {
		return
	}
	expr := e.in.Locals[name].Expr
	for _, traversal := range expr.Variables() {
		if other := localName(traversal); other != "" {
			e.local(other, evaluated)
		}
	}
	e.ctx.Variables = e.locals.Variables()
	value, diags := lang.Evaluate(context.Background(), expr, e.ctx)
	e.diags = e.diags.Extend(diags)
	evaluated[name] = true
	e.locals.Set(value, "local", name) // with errors, an unknown one
}

// stacks returns the outputs by their names.
func (e *evaluation) stacks(references map[string][]Reference) scope.Table {
	open := map[Origin][]string{} // outputs that are not known by name, but referred to
	for _, list := range references {
		for _, r := range list {
			if e.of[r.Origin].Open {
				open[r.Origin] = append(open[r.Origin], r.Output)
			}
		}
	}
	stacks := scope.Table{"stack": scope.Table{}}
	for origin, of := range e.of {
		path := []string{"stack", origin.Stack, "output"}
		if origin.Deployment != "" {
			path = []string{"stack", origin.Stack, "deployment", origin.Deployment, "output"}
		}
		stacks.Set(outputs(of, open[origin]), path...)
	}
	return stacks
}

// outputs returns the object with the outputs of a unit.
func outputs(of Outputs, open []string) cty.Value {
	values := maps.Clone(of.Values)
	if values == nil {
		values = map[string]cty.Value{}
	}
	for _, name := range open {
		if name == "" {
			return cty.DynamicVal
		}
		if _, known := values[name]; !known {
			values[name] = cty.DynamicVal
		}
	}
	return cty.ObjectVal(values)
}
