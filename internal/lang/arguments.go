// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package lang

import (
	"errors"
	"slices"
	"strconv"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"

	"github.com/cairnstacks/cairn/stackruntime/marks"
)

// quoted returns s for use in an error message, or a note in its place if the argument that s came
// from carries marks (rule L3).
func quoted(s string, own cty.ValueMarks) string {
	switch {
	case own.Has(marks.Sensitive):
		return "(sensitive value)"
	case own.Has(marks.Ephemeral):
		return "(ephemeral value)"
	case len(own) > 0:
		return "(hidden value)"
	}
	return strconv.Quote(s)
}

// functionOf makes a function whose results are of one type and never null.
func functionOf(
	result cty.Type, description string, params []function.Parameter, impl func(args []cty.Value) (cty.Value, error),
) function.Function {
	return function.New(&function.Spec{
		Description: description, Params: params, Type: function.StaticReturnType(result), RefineResult: refineNotNull,
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) { return impl(args) },
	})
}

// delegate makes a function with the parameters of f that leaves everything to impl, which gets the
// arguments as they are and usually calls f.
//
// The declared type of the result is dynamic, because f finds the right one when it is called and
// finding it twice can be costly. Results have their right types all the same.
func delegate(f function.Function, impl function.ImplFunc) function.Function {
	return delegateTaking(f, func(function.Parameter) bool { return false }, impl)
}

// delegateTaking is [delegate] with values of any type for the parameters that match.
func delegateTaking(f function.Function, matches func(function.Parameter) bool, impl function.ImplFunc) function.Function {
	params := parametersOf(f)
	allowAll := func(param *function.Parameter) {
		if matches(*param) {
			param.Type = cty.DynamicPseudoType
		}
		param.AllowNull, param.AllowUnknown, param.AllowDynamicType, param.AllowMarked = true, true, true, true
	}
	for i := range params.fixed {
		allowAll(&params.fixed[i])
	}
	if params.variadic != nil {
		allowAll(params.variadic)
	}
	return function.New(&function.Spec{
		Description: f.Description(),
		Params:      params.fixed,
		VarParam:    params.variadic,
		Type:        function.StaticReturnType(cty.DynamicPseudoType),
		Impl:        impl,
	})
}

// notNull refines the unknown results of a function of the libraries: they are never null.
func notNull(f function.Function) function.Function {
	return delegate(f, func(args []cty.Value, _ cty.Type) (cty.Value, error) {
		result, err := f.Call(args)
		if err != nil {
			return cty.NilVal, err
		}
		return result.RefineNotNull(), nil
	})
}

// hideDetails keeps the errors of a function of the libraries, which quote its arguments, away from
// people if an argument is sensitive or ephemeral (rule L3).
func hideDetails(f function.Function) function.Function {
	return delegate(f, func(args []cty.Value, _ cty.Type) (cty.Value, error) {
		result, err := f.Call(args)
		if err != nil && slices.ContainsFunc(args, marks.Hidden) {
			const text = "the details are hidden, because an argument is sensitive or ephemeral"
			if argument, ok := errors.AsType[function.ArgError](err); ok {
				return cty.NilVal, function.NewArgErrorf(argument.Index, text)
			}
			return cty.NilVal, errors.New(text)
		}
		return result, err
	})
}

// keepMarks makes a function that handles marks itself keep them when it is not called at all,
// since an argument is unknown. Cty then loses the marks of the arguments.
func keepMarks(f function.Function) function.Function {
	params := parametersOf(f)
	return delegate(f, func(args []cty.Value, _ cty.Type) (cty.Value, error) {
		result, err := f.Call(args)
		if err != nil || !params.cutShort(args) {
			return result, err
		}
		for i, arg := range args {
			if params.at(i).AllowMarked {
				_, own := arg.UnmarkDeep()
				result = result.WithMarks(own)
			}
		}
		return result, nil
	})
}

// losesMarks reports whether f needs [keepMarks].
func losesMarks(f function.Function) bool {
	params := parametersOf(f)
	handlesMarks := func(p function.Parameter) bool { return p.AllowMarked }
	cutsShort := func(p function.Parameter) bool { return !p.AllowUnknown || !p.AllowDynamicType }
	return params.any(handlesMarks) && params.any(cutsShort)
}

// parameters are those of one function, which gives them away only as copies.
type parameters struct {
	fixed    []function.Parameter
	variadic *function.Parameter
}

func parametersOf(f function.Function) parameters {
	return parameters{fixed: f.Params(), variadic: f.VarParam()}
}

// any reports whether one of the parameters matches.
func (p parameters) any(matches func(function.Parameter) bool) bool {
	return slices.ContainsFunc(p.fixed, matches) || p.variadic != nil && matches(*p.variadic)
}

func (p parameters) at(i int) function.Parameter {
	if i < len(p.fixed) {
		return p.fixed[i]
	}
	return *p.variadic
}

// cutShort reports whether a call ends with an unknown before the function sees the arguments.
func (p parameters) cutShort(args []cty.Value) bool {
	for i, arg := range args {
		param := p.at(i)
		if !arg.IsKnown() && !param.AllowUnknown || arg.Type() == cty.DynamicPseudoType && !param.AllowDynamicType {
			return true
		}
	}
	return false
}
