// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package client

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/zclconf/go-cty/cty"
	ctymsgpack "github.com/zclconf/go-cty/cty/msgpack"

	"github.com/cairnstacks/cairn/internal/providers/plugin"
	pluginv1 "github.com/cairnstacks/cairn/proto/cairn/plugin/v1"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// CallFunction implements [provider.Provider].
func (c *Client) CallFunction(ctx context.Context, name string, args []cty.Value) (cty.Value, error) {
	f, ok := c.schema.Functions[name]
	if !ok {
		return cty.NilVal, fmt.Errorf("provider %s has no function %q", c.address, name)
	}
	return CallFunction(ctx, c.process, 0, Function{Name: name, Signature: f}, args)
}

// Function is a function to call.
type Function struct {
	Name      string
	Signature *engine.Function
}

// CallFunction calls a function in a process, which is ended after timeout unless that is 0. See
// [engine.FunctionCaller].
func CallFunction(ctx context.Context, process *plugin.Process, timeout time.Duration, f Function, args []cty.Value) (cty.Value, error) {
	request, err := f.encode(args)
	if err != nil {
		return cty.NilVal, err
	}
	var response pluginv1.CallResponse
	if err := process.Invoke(ctx, timeout, plugin.CallFunction, request, &response); err != nil {
		return cty.NilVal, FunctionError(err)
	}
	if failure := response.GetError(); failure != nil {
		return cty.NilVal, decodeError(failure)
	}
	return f.decode(response.GetResult())
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

func (f Function) encode(args []cty.Value) (*pluginv1.CallRequest, error) {
	if n := len(args); n < len(f.Signature.Parameters) || n > len(f.Signature.Parameters) && f.Signature.Variadic == nil {
		return nil, fmt.Errorf("%d arguments for function %q, which has %d parameters", n, f.Name, len(f.Signature.Parameters))
	}
	request := &pluginv1.CallRequest{Name: f.Name}
	for i, arg := range args {
		encoded, err := ctymsgpack.Marshal(arg, f.Signature.Parameter(i).Type)
		if err != nil {
			return nil, fmt.Errorf("argument %d of function %q: %w", i, f.Name, err)
		}
		request.Arguments = append(request.Arguments, &pluginv1.DynamicValue{Msgpack: encoded})
	}
	return request, nil
}

// decode returns the result, which other than all other values must not be absent.
func (f Function) decode(encoded *pluginv1.DynamicValue) (cty.Value, error) {
	result, err := decodeValue(encoded, f.Signature.Return)
	if err == nil && len(encoded.GetMsgpack()) == 0 && len(encoded.GetJson()) == 0 {
		err = errors.New("there is no value")
	}
	if err != nil {
		return cty.NilVal, &engine.FunctionError{
			Problem: fmt.Sprintf("The provider returned something that is not a %s. That is a mistake in the provider.",
				f.Signature.Return.FriendlyName()),
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
