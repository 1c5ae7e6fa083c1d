// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package schema

import (
	"fmt"
	"maps"
	"slices"

	ctyjson "github.com/zclconf/go-cty/cty/json"

	pluginv1 "github.com/cairnstacks/cairn/proto/cairn/plugin/v1"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// DecodeFunctions returns the signatures of functions in the answer of a provider.
func DecodeFunctions(encoded map[string]*pluginv1.Function) (map[string]*engine.Function, error) {
	functions := make(map[string]*engine.Function, len(encoded))
	for _, name := range slices.Sorted(maps.Keys(encoded)) {
		decoded, err := decodeFunction(encoded[name])
		if err != nil {
			return nil, fmt.Errorf("function %q: %w", name, err)
		}
		functions[name] = decoded
	}
	return functions, nil
}

func decodeFunction(encoded *pluginv1.Function) (*engine.Function, error) {
	f := &engine.Function{Summary: encoded.GetSummary(), Deprecated: encoded.GetDeprecationMessage(), Description: encoded.GetDescription()}
	for _, parameter := range encoded.GetParameters() {
		decoded, err := decodeParameter(parameter)
		if err != nil {
			return nil, err
		}
		f.Parameters = append(f.Parameters, decoded)
	}
	if variadic := encoded.GetVariadicParameter(); variadic != nil {
		decoded, err := decodeParameter(variadic)
		if err != nil {
			return nil, err
		}
		f.Variadic = &decoded
	}
	var err error
	if f.Return, err = ctyjson.UnmarshalType(encoded.GetReturn().GetType()); err != nil {
		return nil, fmt.Errorf("type of the result: %w", err)
	}
	return f, nil
}

func decodeParameter(encoded *pluginv1.Function_Parameter) (engine.FunctionParameter, error) {
	ty, err := ctyjson.UnmarshalType(encoded.GetType())
	if err != nil {
		return engine.FunctionParameter{}, fmt.Errorf("type of parameter %q: %w", encoded.GetName(), err)
	}
	return engine.FunctionParameter{
		Name:         encoded.GetName(),
		Type:         ty,
		AllowNull:    encoded.GetAllowNullValue(),
		AllowUnknown: encoded.GetAllowUnknownValues(),
		Description:  encoded.GetDescription(),
	}, nil
}
