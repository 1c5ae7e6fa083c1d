// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package engine

import (
	"context"
	"errors"
	"strings"

	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/stackaddrs"
)

// ErrNoProviders says that no provider can be asked, for a reason that the caller of the runtime
// reports. While a configuration is validated, results of their functions are then unknown.
var ErrNoProviders = errors.New("there are no providers to ask")

// FunctionCaller is the ability to call functions of providers. A [Session] without it
// has none to offer.
//
// The providers that are called have no configuration.
type FunctionCaller interface {
	// Functions returns the functions of a provider, by name. Repeated calls for
	// one provider are cheap. The caller must not change the result.
	//
	// Errors: [ErrNoProviders], or why it could not be found out.
	Functions(ctx context.Context, provider stackaddrs.Provider) (map[string]*Function, error)

	// CallFunction calls a function.
	//
	// Arguments: as many as the function takes, each of the type of its
	// parameter. Null and unknown only where the parameter allows it. No marks.
	//
	// The result is of the function's return type. It may be unknown, and has no marks.
	//
	// Errors: a [*FunctionError] if the provider was to blame.
	CallFunction(ctx context.Context, provider stackaddrs.Provider, name string, args []cty.Value) (cty.Value, error)
}

// Function is the signature of a function of a provider.
type Function struct {
	Parameters []FunctionParameter
	Variadic   *FunctionParameter // for all further arguments; nil for none
	Return     cty.Type
	Summary    string
	Deprecated string // the replacement to use, or ""

	Description string // in Markdown
}

// FunctionParameter describes the arguments that a function accepts in one place.
type FunctionParameter struct {
	Name         string
	Type         cty.Type
	AllowNull    bool
	AllowUnknown bool // whole or in part
	Description  string
}

// Parameter returns the parameter for an argument.
func (f *Function) Parameter(argument int) FunctionParameter {
	if argument < len(f.Parameters) {
		return f.Parameters[argument]
	}
	return *f.Variadic
}

// FunctionError is why a function of a provider gave no result.
type FunctionError struct {
	// Problem describes the failure, and never quotes an argument. It is empty if the function has
	// refused its arguments.
	Problem string

	// Said is the provider's own text, and may quote arguments.
	Said string

	// Argument is the index of the argument at fault, or -1.
	Argument int
}

// Error returns all that is known of the error. It may quote arguments.
func (e *FunctionError) Error() string {
	return strings.TrimSpace(e.Problem + " " + e.Said)
}
