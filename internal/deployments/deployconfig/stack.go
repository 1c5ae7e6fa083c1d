// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package deployconfig

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/cairnstacks/cairn/internal/diagnostic/identity"
	"github.com/cairnstacks/cairn/internal/nearest"
	"github.com/cairnstacks/cairn/stackruntime/marks"
	"github.com/cairnstacks/cairn/stackruntime/stackconfig"
)

// CheckStack checks the files against the stack that they deploy: inputs against its variables,
// published outputs against its outputs. It returns no diagnostics that Load has returned (rule
// D2), sorted by place.
func (c *Config) CheckStack(root *stackconfig.Stack) hcl.Diagnostics {
	check := &stackCheck{static: c.static, stack: root}
	for _, name := range c.Order {
		check.inputs(c.Deployments[name])
	}
	check.static = newStatic(c)
	check.static.locals, check.static.functions = c.static.locals, c.static.functions
	check.static.outputs = root.Outputs
	for _, name := range slices.Sorted(maps.Keys(c.Published)) {
		check.published(c.Published[name])
	}
	return identity.Sort(check.diags)
}

type stackCheck struct {
	*static
	stack *stackconfig.Stack
	diags hcl.Diagnostics
}

func (c *stackCheck) errorf(subject hcl.Range, summary, format string, args ...any) {
	c.diags = append(c.diags, problem(subject, summary, format, args...))
}

// input is the value for one variable, with its place.
type input struct {
	name  string
	key   hcl.Range
	expr  hcl.Expression
	value cty.Value // cty.NilVal if it has a mistake that was reported
}

// inputs checks the inputs of one deployment.
func (c *stackCheck) inputs(deployment *Deployment) {
	inputs, complete := c.inputsOf(deployment)
	given := map[string]bool{}
	for _, in := range inputs {
		given[in.name] = true
		variable := c.stack.Variables[in.name]
		switch {
		case variable != nil:
			c.input(deployment, variable, in)
		case !c.stack.Incomplete:
			given[nearest.Name(in.name, slices.Collect(maps.Keys(c.stack.Variables)))] = true // a misspelt input is not missing, too
			c.errorf(in.key, "Unknown stack variable", "The stack has no variable %q.%s", in.name,
				nearest.DidYouMean(in.name, slices.Collect(maps.Keys(c.stack.Variables))))
		}
	}
	if !complete {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(c.stack.Variables)) {
		if variable := c.stack.Variables[name]; variable.Default == cty.NilVal && !given[name] {
			c.errorf(deployment.Range, "Stack variable not set by deployment", "The stack requires a value for its variable %q. Set it in the "+
				"inputs of deployment.%s, or give the variable a default, which inputs of a workspace file may replace.", name, deployment.Name)
		}
	}
}

// inputsOf returns the inputs of a deployment as far as their names are known, and whether these
// are all.
func (c *stackCheck) inputsOf(deployment *Deployment) (inputs []input, complete bool) {
	if pairs, diags := hcl.ExprMap(deployment.Inputs); !diags.HasErrors() {
		return c.writtenOut(deployment, pairs)
	}
	if deployment.broken {
		return nil, false
	}
	whole, outer := deployment.value.Unmark()
	ty := whole.Type()
	at := deployment.Inputs.Range()
	switch {
	case whole.IsKnown():
		for name, value := range whole.AsValueMap() {
			inputs = append(inputs, input{name, at, deployment.Inputs, value.WithMarks(outer)})
		}
	case ty.IsObjectType():
		for name, attr := range ty.AttributeTypes() {
			inputs = append(inputs, input{name, at, deployment.Inputs, cty.UnknownVal(attr).WithMarks(outer)})
		}
	default:
		return nil, false
	}
	slices.SortFunc(inputs, func(a, b input) int { return strings.Compare(a.name, b.name) })
	return inputs, true
}

// writtenOut returns the inputs of an object constructor. Loops may take seconds: inputs that Load
// has evaluated are not evaluated again.
func (c *stackCheck) writtenOut(deployment *Deployment, pairs []hcl.KeyValuePair) (inputs []input, complete bool) {
	complete = true
	for _, pair := range pairs {
		name := c.key(pair.Key)
		if name == "" {
			complete = false
			continue
		}
		in := input{name, pair.Key.Range(), pair.Value, cty.NilVal}
		if value, ok := deployment.known(name); ok {
			in.value = value
		} else if !deployment.mistakenIn(pair.Value.Range()) {
			if value, diags := c.value(pair.Value, InInputs); !diags.HasErrors() {
				in.value = value
			}
		}
		inputs = append(inputs, in)
	}
	return inputs, complete
}

// known returns the value of an input, if the value of all of them shows it.
func (d *Deployment) known(name string) (cty.Value, bool) {
	if d.broken || d.value == cty.NilVal || d.value.IsMarked() || !d.value.IsKnown() || !d.value.Type().IsObjectType() ||
		!d.value.Type().HasAttribute(name) {
		return cty.NilVal, false
	}
	return d.value.GetAttr(name), true
}

// mistakenIn reports whether evaluating the inputs has found a mistake in one of their expressions.
func (d *Deployment) mistakenIn(expr hcl.Range) bool {
	return slices.ContainsFunc(d.mistakes, func(diag *hcl.Diagnostic) bool {
		return diag.Severity == hcl.DiagError && diag.Subject != nil && diag.Subject.Filename == expr.Filename &&
			diag.Subject.Start.Byte >= expr.Start.Byte && diag.Subject.End.Byte <= expr.End.Byte
	})
}

// key returns the key of an object constructor, "" if it is not known.
func (c *stackCheck) key(expr hcl.Expression) string {
	if keyword := hcl.ExprAsKeyword(expr); keyword != "" {
		return keyword
	}
	value, diags := c.value(expr, InInputs)
	value, _ = value.Unmark()
	if diags.HasErrors() || !value.IsKnown() || value.IsNull() {
		return ""
	}
	text, err := convert.Convert(value, cty.String)
	if err != nil {
		return ""
	}
	return text.AsString()
}

// input checks the value for one variable.
func (c *stackCheck) input(deployment *Deployment, variable *stackconfig.InputVariable, in input) {
	if in.value == cty.NilVal {
		return
	}
	if bare, _ := in.value.Unmark(); bare.IsNull() {
		if variable.Default == cty.NilVal {
			c.errorf(in.expr.Range(), "Stack variable not set by deployment", "The stack requires a value for its variable %q, which null is not.",
				variable.Name)
		}
		return
	}
	converted, err := variable.Type.Convert(in.value)
	if err != nil {
		c.errorf(in.expr.Range(), "Unsuitable deployment input", "The value for the variable %q of the stack is not suitable: %s.",
			variable.Name, marks.DescribeError(in.value, err))
		return
	}
	if !variable.Ephemeral && marks.Contains(converted, marks.Ephemeral) {
		c.errorf(in.expr.Range(), "Ephemeral value for kept variable",
			"The value exists only during one operation, and the stack keeps that of the variable %[1]q. Declare the variable %[1]q with "+
				"ephemeral = true%s.",
			variable.Name, c.instead(deployment, in.expr))
	}
}

// instead names the values that are kept, in Place of those that are not.
func (c *stackCheck) instead(deployment *Deployment, expr hcl.Expression) string {
	stores := c.config.Uses(expr).Stores
	keys := slices.SortedFunc(maps.Keys(stores), func(a, b StoreKey) int { return strings.Compare(a.String(), b.String()) })
	for _, key := range keys {
		if names := slices.Sorted(maps.Keys(stores[key].Keys)); len(names) > 0 {
			return fmt.Sprintf(", or use %s.stable.%s, which is read once for deployment.%s and kept", key, names[0], deployment.Name)
		}
	}
	return ""
}

// published checks one published output.
func (c *stackCheck) published(published *PublishedOutput) {
	if published.broken {
		return
	}
	missing := false
	for _, traversal := range published.Value.Variables() {
		ref, _, ok := c.config.resolve(traversal, InPublished) //nolint:errcheck // reported when the files were read
		if !ok || ref.Root != "deployment" || c.stack.Outputs[ref.Attr] != nil {
			continue
		}
		missing = true
		if !c.stack.Incomplete {
			c.errorf(ref.Range, "Unknown reference", "The stack has no output %q.%s", ref.Attr,
				nearest.DidYouMean(ref.Attr, slices.Collect(maps.Keys(c.stack.Outputs))))
		}
	}
	if missing {
		return
	}
	value, diags := c.value(published.Value, InPublished)
	c.diags = append(c.diags, diags...)
	switch {
	case diags.HasErrors():
	case marks.Contains(value, marks.Ephemeral):
		c.diags = append(c.diags, ephemeralPublished(published))
	case published.Type != nil:
		if _, err := published.Type.Convert(value); err != nil {
			c.errorf(published.Value.Range(), "Unsuitable published value", "The value is not of the type of the published output %q: %s.",
				published.Name, marks.DescribeError(value, err))
		}
	}
}
