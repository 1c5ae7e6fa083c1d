// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package client

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/zclconf/go-cty/cty"
	ctymsgpack "github.com/zclconf/go-cty/cty/msgpack"

	"github.com/cairnstacks/cairn/internal/providers/plugin"
	pluginv1 "github.com/cairnstacks/cairn/proto/cairn/plugin/v1"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// CallFunction implements [provider.Provider].
func (c *Client) CallFunction(ctx context.Context, name string, args []cty.Value) (cty.Value, error) {
	signature, ok := c.schema.Functions[name]
	if !ok {
		return cty.NilVal, fmt.Errorf("provider %s has no function %q", c.address, name)
	}
	f := function{name, signature}
	request, err := f.encode(args)
	if err != nil {
		return cty.NilVal, err
	}
	var response pluginv1.CallResponse
	if err := c.process.Invoke(ctx, plugin.CallFunction, request, &response); err != nil {
		return cty.NilVal, FunctionError(err)
	}
	if failure := response.GetError(); failure != nil {
		return cty.NilVal, decodeError(failure)
	}
	return f.decode(response.GetResult())
}

// function is a function to call.
type function struct {
	name      string
	signature *engine.Function
}

// FunctionError returns the error of a function for one of a process.
func FunctionError(err error) error {
	if errors.Is(err, plugin.ErrUnimplemented) {
		return &engine.FunctionError{Problem: "The provider lists functions but does not let them be called.", Argument: -1}
	}
	if failure, ok := errors.AsType[*plugin.Error](err); ok {
		return &engine.FunctionError{Problem: failure.Problem, Said: failure.Said, Argument: -1}
	}
	return err
}

func (f function) encode(args []cty.Value) (*pluginv1.CallRequest, error) {
	if n := len(args); n < len(f.signature.Parameters) || n > len(f.signature.Parameters) && f.signature.Variadic == nil {
		return nil, fmt.Errorf("%d arguments for function %q, which has %d parameters", n, f.name, len(f.signature.Parameters))
	}
	request := &pluginv1.CallRequest{Name: f.name}
	for i, arg := range args {
		encoded, err := ctymsgpack.Marshal(arg, f.signature.Parameter(i).Type)
		if err != nil {
			return nil, fmt.Errorf("argument %d of function %q: %w", i, f.name, err)
		}
		request.Arguments = append(request.Arguments, &pluginv1.DynamicValue{Msgpack: encoded})
	}
	return request, nil
}

// decode returns the result, which other than all other values must not be absent.
func (f function) decode(encoded *pluginv1.DynamicValue) (cty.Value, error) {
	result, err := decodeValue(encoded, f.signature.Return)
	if err == nil && len(encoded.GetMsgpack()) == 0 && len(encoded.GetJson()) == 0 {
		err = errors.New("there is no value")
	}
	if err != nil {
		return cty.NilVal, &engine.FunctionError{
			Problem: fmt.Sprintf("The provider returned something that is not a %s. That is a mistake in the provider.",
				f.signature.Return.FriendlyName()),
			Said:     err.Error(),
			Argument: -1,
		}
	}
	return result, nil
}

func decodeError(failure *pluginv1.FunctionError) error {
	decoded := &engine.FunctionError{Said: strings.TrimSpace(failure.GetText()), Argument: -1}
	if decoded.Said == "" {
		decoded.Problem = "The function failed without saying why."
	}
	if failure.FunctionArgument != nil {
		decoded.Argument = int(failure.GetFunctionArgument())
	}
	return decoded
}
