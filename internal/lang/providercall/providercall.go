// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package providercall makes functions of providers callable from expressions, of stacks and of
// modules alike. Its callers find the provider, read the signature and carry the call; this package
// does the work between HCL and the call.
//
//   - Arguments are converted to the types of the parameters, and lose their marks, which the
//     result gets.
//   - Null for a parameter that does not take it is an error, and unknown for one that does not
//     take it makes the result unknown, without a call.
//   - An error names the argument at fault, and quotes nothing if any argument carries marks.
//   - A result of another type than the signature's is an error, and so is one that differs from
//     that of an equal call before ([Results]).
package providercall

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"

	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/marks"
)

// Function is a function of a provider.
type Function struct {
	Provider  stackaddrs.Provider
	Name      string
	Signature *engine.Function

	// Call calls the function with arguments without marks, each of the type of its parameter. It
	// may return an [*engine.FunctionError].
	Call func(args []cty.Value) (cty.Value, error)

	// Results are those of the whole run, to compare with. nil compares nothing.
	Results *Results
}

// Callable makes the function that HCL calls. All the special cases of arguments are dealt with
// here, because cty would lose marks. It is safe for concurrent use if Call is.
func (f *Function) Callable() function.Function {
	spec := &function.Spec{
		Description: f.Signature.Summary,
		Type:        function.StaticReturnType(f.Signature.Return),
		Impl:        f.call,
	}
	for _, parameter := range f.Signature.Parameters {
		spec.Params = append(spec.Params, parameterOf(parameter))
	}
	if f.Signature.Variadic != nil {
		variadic := parameterOf(*f.Signature.Variadic)
		spec.VarParam = &variadic
	}
	return function.New(spec)
}

func parameterOf(p engine.FunctionParameter) function.Parameter {
	return function.Parameter{
		Name: p.Name, Type: p.Type,
		AllowNull: p.AllowNull, AllowUnknown: true, AllowDynamicType: true, AllowMarked: true,
	}
}

func (f *Function) call(args []cty.Value, _ cty.Type) (cty.Value, error) {
	bare := make([]cty.Value, len(args))
	argMarks := make([]cty.ValueMarks, len(args))
	marked, ephemeral := false, false
	for i, arg := range args {
		bare[i], argMarks[i] = arg.UnmarkDeep()
		_, isEphemeral := argMarks[i][marks.Ephemeral]
		marked, ephemeral = marked || len(argMarks[i]) > 0, ephemeral || isEphemeral
	}
	result, err := f.callBare(bare)
	if err == nil && !ephemeral { // nothing that derives from ephemeral values is kept
		err = f.Results.record(f, bare, result)
	}
	if err != nil {
		return cty.NilVal, describeFailure(err, len(args), marked)
	}
	return result.WithMarks(argMarks...), nil
}

// callBare calls the function with arguments without marks, unless one of them is unknown that must
// not be.
func (f *Function) callBare(args []cty.Value) (cty.Value, error) {
	for i, arg := range args {
		if hasCapsule(arg.Type()) {
			return cty.NilVal, function.NewArgErrorf(i, "provider configurations cannot be given to functions")
		}
		if !f.Signature.Parameter(i).AllowUnknown && !arg.IsWhollyKnown() {
			return cty.UnknownVal(f.Signature.Return), nil
		}
	}
	result, err := f.Call(args)
	if err != nil {
		return cty.NilVal, err
	}
	if len(result.Type().TestConformance(f.Signature.Return)) > 0 {
		return cty.NilVal, fmt.Errorf("provider %s returned a %s and not a %s, which is a mistake in the provider",
			f.Provider, result.Type().FriendlyName(), f.Signature.Return.FriendlyName())
	}
	return result, nil
}

// hasCapsule reports whether values of the type hold something that only this process knows. In the
// languages, these are the provider configurations of stacks.
func hasCapsule(ty cty.Type) bool {
	switch {
	case ty.IsCapsuleType():
		return true
	case ty.IsCollectionType():
		return hasCapsule(ty.ElementType())
	case ty.IsTupleType():
		return slices.ContainsFunc(ty.TupleElementTypes(), hasCapsule)
	case ty.IsObjectType():
		for _, attribute := range ty.AttributeTypes() {
			if hasCapsule(attribute) {
				return true
			}
		}
	}
	return false
}

// describeFailure makes the error that HCL shows of one of a call. If an argument carries marks,
// nothing is shown that may quote it.
func describeFailure(err error, arguments int, marked bool) error {
	failure, ok := errors.AsType[*engine.FunctionError](err)
	if !ok {
		return err
	}
	text := failure.Error()
	if marked {
		text = "the details are hidden, because an argument is sensitive or ephemeral"
		if failure.Problem != "" {
			text = failure.Problem + " (" + text + ")"
		}
	}
	text = strings.TrimSuffix(text, ".")
	if failure.Argument >= 0 && failure.Argument < arguments {
		return function.NewArgErrorf(failure.Argument, "%s", text)
	}
	return errors.New(text)
}
