// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package eval

import (
	"context"
	"fmt"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/bounds"
	"github.com/cairnstacks/cairn/internal/module"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/marks"
)

// Local is a local value of a module instance.
type Local struct {
	module *Module
	config *module.Local
	value  memo[cty.Value]
}

// Value returns the value.
func (l *Local) Value(ctx context.Context) (cty.Value, bool) {
	name := "local." + l.config.Name
	value, ok := l.value.get(ctx, l.module.eval, l.module.prefixed(name), l.config.Range.Ptr(), func(ctx context.Context) (cty.Value, bool) {
		result, ok := l.module.evaluate(ctx, l.config.Value, Place{})
		if !ok {
			return cty.NilVal, false
		}
		return l.module.usedWhole(result.Value, result.Range), true
	})
	if !ok && l.module.eval.opts.Phase == Validate {
		return cty.DynamicVal, true
	}
	return value, ok
}

// Output is an output value of a module instance.
type Output struct {
	module *Module
	config *module.Output
	value  memo[cty.Value]
}

// Config returns the block.
func (o *Output) Config() *module.Output { return o.config }

// known returns the value if it does not have to be evaluated.
func (o *Output) known() (cty.Value, bool) {
	if o.module != o.module.eval.root {
		return cty.NilVal, false
	}
	value, ok := o.module.eval.opts.Outputs[o.config.Name]
	return value, ok
}

// Value returns the value as the caller of the module sees it.
func (o *Output) Value(ctx context.Context) (cty.Value, bool) {
	name := "output." + o.config.Name
	return o.value.get(ctx, o.module.eval, o.module.prefixed(name), o.config.Range.Ptr(), func(ctx context.Context) (cty.Value, bool) {
		if known, ok := o.known(); ok {
			o.check(ctx) // whatever comes of it: terraform stores the value even so
			return known, true
		}
		ready := o.module.Await(ctx, o.config.DependsOn)
		ready = (ready || o.module.eval.opts.Phase == Validate) && o.check(ctx)
		if !ready && o.module.eval.opts.Phase != Validate || o.config.Output == nil || o.config.Value == nil {
			return cty.NilVal, false
		}
		result, ok := o.module.evaluate(ctx, o.config.Value, Place{})
		if !ok {
			return cty.NilVal, false
		}
		result.Value = o.used(result)
		if diag := o.exposes(result); diag != nil {
			return cty.NilVal, o.module.eval.Diagnostics.Add(diag)
		}
		value, diag := o.converted(result)
		if diag != nil {
			return cty.NilVal, o.module.eval.Diagnostics.Add(diag)
		}
		if o.module.call == nil {
			value = asStored(value)
		} else if o.config.Deprecated != nil {
			value = o.module.eval.deprecate(value, *o.config.Deprecated)
		}
		return marks.Declared(value, o.config.Sensitive, o.config.Ephemeral), true
	})
}

// converted returns the value as one of the declared type.
func (o *Output) converted(result Result) (cty.Value, *hcl.Diagnostic) {
	if o.config.Type == nil {
		return result.Value, nil
	}
	value, err := o.config.Type.Convert(result.Value)
	if err != nil {
		return cty.NilVal, result.Error("Invalid output value",
			fmt.Sprintf("The value does not fit the type of the output %q: %s.", o.config.Name, marks.DescribeError(result.Value, err)))
	}
	return value, nil
}

// asStored returns the value of an output of the root module as it comes back from a state: marks
// are those of the whole, and a null has no type. Otherwise an engine that answers from states
// would find another value than this one.
func asStored(value cty.Value) cty.Value {
	bare, found := value.UnmarkDeep()
	if bare.IsNull() {
		bare = cty.NullVal(cty.DynamicPseudoType)
	}
	return bare.WithMarks(found)
}

func (o *Output) check(ctx context.Context) bool {
	ok := true
	for _, condition := range o.config.Preconditions {
		if !o.module.checkCondition(ctx, condition, Place{}, conditionOf{
			kind: engine.CheckOutput, block: o.module.staticPrefixed("output." + o.config.Name), object: o.module.prefixed("output." +
				o.config.Name),
			summary: "Module output value precondition failed",
		}) {
			ok = false
		}
	}
	return ok
}

// exposes returns the error about a value that the output may not have.
func (o *Output) exposes(result Result) *hcl.Diagnostic {
	switch {
	case !o.config.Ephemeral && marks.Contains(result.Value, marks.Ephemeral):
		return result.Error("Ephemeral value not allowed",
			fmt.Sprintf("The output %q is not declared as ephemeral, and cannot have an ephemeral value.", o.config.Name))
	case o.module.call == nil && !o.config.Sensitive && marks.Contains(result.Value, marks.Sensitive):
		diag := result.Error("Output refers to sensitive values", fmt.Sprintf(
			"The value of output %q is sensitive. Declare that with sensitive = true, or remove the sensitive parts from the "+
				"expression.", o.config.Name))
		diag.Subject = o.config.Range.Ptr() // as in terraform: the mistake may be in the declaration
		return diag
	}
	if o.module.call != nil {
		return nil
	}
	if err := bounds.CheckFinite(result.Value); err != nil {
		return result.Error("Infinite number",
			fmt.Sprintf("The value of output %q cannot be stored: %s.", o.config.Name, marks.DescribeError(result.Value, err)))
	}
	return nil
}
