// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stacks

import (
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/rpcapi/wire"
	stackspb "github.com/cairnstacks/cairn/proto/terraform1/stacks"
	"github.com/cairnstacks/cairn/stackruntime/marks"
	"github.com/cairnstacks/cairn/stackruntime/stackconfig"
)

// input is a value that a client gives to a root variable.
type input struct {
	value cty.Value
	place hcl.Range // where the client says that it has the value from
}

// parseInputs returns the values in a request. One that cannot be decoded is like one that was not
// given.
//
// Errors: InvalidArgument.
func parseInputs(messages map[string]*stackspb.DynamicValueWithSource) (map[string]input, error) {
	inputs := make(map[string]input, len(messages))
	for name, message := range messages {
		place := wire.Range(message.GetSourceRange())
		if place == nil {
			return nil, status.Errorf(codes.InvalidArgument, "the value of the input variable %q has no source range with both ends", name)
		}
		value, err := wire.ParseValue(message.GetValue())
		if err != nil {
			continue
		}
		if len(message.GetValue().GetSensitive()) > 0 {
			bare, _ := value.UnmarkDeep()
			value = bare.Mark(marks.Sensitive)
		}
		inputs[name] = input{value, *place}
	}
	return inputs, nil
}

// convertInputs returns the values of declared variables. For one that does not have the type of
// its variable, an error is reported where it comes from, and nothing is known of it.
func convertInputs(inputs map[string]input, declared map[string]*stackconfig.InputVariable) (map[string]cty.Value, hcl.Diagnostics) {
	values := make(map[string]cty.Value, len(inputs))
	var diags hcl.Diagnostics
	for _, name := range slices.Sorted(maps.Keys(inputs)) {
		variable := declared[name]
		if variable == nil {
			continue // the client may have values for other versions of the configuration
		}
		given := inputs[name]
		value, err := convertInput(given.value, variable.Type)
		if err != nil {
			diags = diags.Append(failure.At(given.place, "Unsuitable value of an input variable",
				"The input variable %q cannot have this value: %s.", name, err))
			value = cty.UnknownVal(variable.Type.WithoutOptional())
		}
		values[name] = value
	}
	return values, diags
}

func convertInput(value cty.Value, ty stackconfig.Type) (cty.Value, error) {
	if bare, _ := value.Unmark(); bare.IsNull() {
		return value, nil // for the default
	}
	if ty.Defaults != nil {
		value = ty.Defaults.Apply(value)
	}
	return convert.Convert(value, ty.Constraint)
}
