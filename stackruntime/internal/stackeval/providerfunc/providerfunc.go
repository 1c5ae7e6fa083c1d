// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package providerfunc calls the functions of providers from expressions (docs/language.md, section 3.7). Values of the language become
// arguments without marks, and the marks of these the result's; and a function has to return the same for the same arguments whenever it is
// called.
package providerfunc

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"

	"github.com/cairnstacks/cairn/internal/lang"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/expr"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/maintask"
	"github.com/cairnstacks/cairn/stackruntime/marks"
	"github.com/cairnstacks/cairn/stackruntime/stackconfig"
)

// Unusable stands for a function that could not be found out about, for
// a reason which somebody else reports.
var Unusable = function.New(&function.Spec{
	VarParam: &function.Parameter{
		Name: "arguments", Type: cty.DynamicPseudoType,
		AllowNull: true, AllowUnknown: true, AllowDynamicType: true, AllowMarked: true,
	},
	Type: function.StaticReturnType(cty.DynamicPseudoType),
	Impl: func([]cty.Value, cty.Type) (cty.Value, error) { return expr.Placeholder(cty.DynamicPseudoType), nil },
})

// Functions are those of all providers in one operation.
type Functions struct {
	Caller   engine.FunctionCaller // nil if there are none
	Optional bool                  // that providers are not there is no mistake
	Results  Results
}

// Function is a function of a provider.
type Function struct {
	functions *Functions
	provider  stackaddrs.Provider
	name      string
	signature *engine.Function
}

// Find finds the function that is called. It is nil without an error if there are no providers, and these are optional. ctx must come from
// package maintask.
func (f *Functions) Find(ctx context.Context, provider stackaddrs.Provider, call lang.ProviderCall) (*Function, hcl.Diagnostics) {
	problem := func(summary, detail string, args ...any) hcl.Diagnostics {
		return hcl.Diagnostics{{Severity: hcl.DiagError, Summary: summary, Detail: fmt.Sprintf(detail, args...), Subject: call.Range.Ptr()}}
	}
	_, name, _ := call.Parts()
	var functions map[string]*engine.Function
	if f.Caller != nil {
		var err error
		functions, err = f.Caller.Functions(maintask.StopContext(ctx), provider)
		if errors.Is(err, engine.ErrNoProviders) && f.Optional {
			return nil, nil
		}
		if err != nil {
			return nil, problem("Provider functions unavailable",
				"It cannot be found out which functions provider %s has: %s.", provider, strings.TrimSuffix(err.Error(), "."))
		}
	}
	signature, ok := functions[name]
	switch {
	case ok:
		return &Function{f, provider, name, signature}, nil
	case len(functions) == 0:
		return nil, problem("Unknown provider function", "Provider %s has no functions that can be called in a stack.", provider)
	default:
		return nil, problem("Unknown provider function",
			"Provider %s has no function %q. It has: %s.", provider, name, strings.Join(slices.Sorted(maps.Keys(functions)), ", "))
	}
}

// Deprecation is the provider's notice that it is going to drop the function, "" for none.
func (f *Function) Deprecation() string { return f.signature.Deprecated }

// Function makes the function that HCL calls during one evaluation. All the
// special cases of arguments are dealt with here, because cty would lose marks.
func (f *Function) Function(ctx context.Context) function.Function {
	spec := &function.Spec{
		Description: f.signature.Summary,
		Type:        function.StaticReturnType(f.signature.Return),
		Impl: func(args []cty.Value, returnType cty.Type) (cty.Value, error) {
			bare := make([]cty.Value, len(args))
			argMarks := make([]cty.ValueMarks, len(args))
			marked, ephemeral := false, false
			for i, arg := range args {
				bare[i], argMarks[i] = arg.UnmarkDeep()
				_, isEphemeral := argMarks[i][marks.Ephemeral]
				marked, ephemeral = marked || len(argMarks[i]) > 0, ephemeral || isEphemeral
			}
			result, err := f.call(ctx, bare, returnType)
			if err == nil && !ephemeral { // nothing that derives from ephemeral values is kept
				err = f.functions.Results.record(f, bare, result)
			}
			if err != nil {
				return cty.NilVal, describeFailure(err, len(args), marked)
			}
			return result.WithMarks(argMarks...), nil
		},
	}
	for _, parameter := range f.signature.Parameters {
		spec.Params = append(spec.Params, functionParameter(parameter))
	}
	if f.signature.Variadic != nil {
		variadic := functionParameter(*f.signature.Variadic)
		spec.VarParam = &variadic
	}
	return function.New(spec)
}

func functionParameter(p engine.FunctionParameter) function.Parameter {
	return function.Parameter{
		Name: p.Name, Type: p.Type,
		AllowNull: p.AllowNull, AllowUnknown: true, AllowDynamicType: true, AllowMarked: true,
	}
}

// call calls the function with arguments without marks, unless one of them is
// unknown that must not be.
func (f *Function) call(ctx context.Context, args []cty.Value, returnType cty.Type) (cty.Value, error) {
	for i, arg := range args {
		if stackconfig.HasProviderRef(arg.Type()) {
			return cty.NilVal, function.NewArgErrorf(i, "provider configurations cannot be given to functions")
		}
		if !f.signature.Parameter(i).AllowUnknown && !arg.IsWhollyKnown() {
			return cty.UnknownVal(returnType), nil
		}
	}
	result, err := f.functions.Caller.CallFunction(maintask.StopContext(ctx), f.provider, f.name, args)
	if err != nil {
		return cty.NilVal, err
	}
	if len(result.Type().TestConformance(returnType)) > 0 {
		return cty.NilVal, fmt.Errorf("provider %s returned a %s and not a %s, which is a mistake in the provider",
			f.provider, result.Type().FriendlyName(), returnType.FriendlyName())
	}
	return result, nil
}

// describeFailure makes the error that HCL shows of one of a call. If an
// argument carries marks, nothing is shown that may quote it.
func describeFailure(err error, arguments int, marked bool) error {
	var failure *engine.FunctionError
	if !errors.As(err, &failure) {
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
