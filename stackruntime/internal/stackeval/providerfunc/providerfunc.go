// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package providerfunc finds the functions of providers that expressions of stacks call
// (docs/language.md, section 3.7). Package providercall calls them.
package providerfunc

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"

	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/lang"
	"github.com/cairnstacks/cairn/internal/lang/providercall"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/expr"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/maintask"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
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

	results providercall.Results
}

// Start begins with the results of earlier calls.
func (f *Functions) Start(known []stackplan.FunctionResult) {
	for _, one := range known {
		f.results.Expect(providercall.Result{Call: one.Call, Result: one.Result})
	}
}

// Results returns the results of calls since the start and before, sorted by call.
func (f *Functions) Results() []stackplan.FunctionResult {
	var results []stackplan.FunctionResult
	for _, one := range f.results.All() {
		results = append(results, stackplan.FunctionResult{Call: one.Call, Result: one.Result})
	}
	return results
}

// Function is a function of a provider.
type Function struct {
	functions *Functions
	provider  stackaddrs.Provider
	name      string
	signature *engine.Function
}

// Find finds the function that is called. It is nil without an error if there are no providers, and
// these are optional. ctx must come from package maintask.
func (f *Functions) Find(ctx context.Context, provider stackaddrs.Provider, call lang.ProviderCall) (*Function, hcl.Diagnostics) {
	problem := func(summary, detail string, args ...any) hcl.Diagnostics {
		return hcl.Diagnostics{failure.At(call.Range, summary, detail, args...)}
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

// Function makes the function that HCL calls during one evaluation.
func (f *Function) Function(ctx context.Context) function.Function {
	call := providercall.Function{Provider: f.provider, Name: f.name, Signature: f.signature, Results: &f.functions.results}
	call.Call = func(args []cty.Value) (cty.Value, error) {
		return f.functions.Caller.CallFunction(maintask.StopContext(ctx), f.provider, f.name, args)
	}
	return call.Callable()
}
