// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package providers

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"
	ctymsgpack "github.com/zclconf/go-cty/cty/msgpack"

	"github.com/cairnstacks/cairn/internal/providers/schema"
	pluginv1 "github.com/cairnstacks/cairn/proto/cairn/plugin/v1"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

var (
	getMetadata  = methodName{name: "GetMetadata"}
	getSchema    = methodName{name: "GetProviderSchema", in5: "GetSchema"}
	getFunctions = methodName{name: "GetFunctions"}
	callFunction = methodName{name: "CallFunction"}
)

// provider is the process of one provider and what it has answered.
type provider struct {
	binary string
	opts   Options

	// turn has an element while somebody uses the fields below it.
	turn      chan struct{}
	closed    bool
	running   *process // nil before the first use
	functions map[string]*engine.Function
}

// take waits for its turn. Without an error, the caller must call done.
func (p *provider) take(ctx context.Context) (done func(), err error) {
	select {
	case p.turn <- struct{}{}:
		return func() { <-p.turn }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func (p *provider) close() {
	p.turn <- struct{}{}
	defer func() { <-p.turn }()
	p.closed = true
	if p.running != nil {
		p.running.end()
	}
}

// start returns a running process that may be called, and the functions.
func (p *provider) start(ctx context.Context) (*process, map[string]*engine.Function, error) {
	done, err := p.take(ctx)
	if err != nil {
		return nil, nil, err
	}
	defer done()
	if p.closed {
		return nil, nil, errClosed
	}
	if p.running != nil && !p.running.client.Exited() {
		return p.running, p.functions, nil
	}
	p.running = nil
	started, err := startProcess(ctx, p.binary, p.opts)
	if err != nil {
		return nil, nil, err
	}
	functions, err := started.askFunctions(ctx, p.opts)
	if err != nil {
		started.end()
		return nil, nil, err
	}
	p.running, p.functions = started, functions
	return started, functions, nil
}

// signatures returns the functions. They stay the same when a process is replaced.
func (p *provider) signatures(ctx context.Context) (map[string]*engine.Function, error) {
	done, err := p.take(ctx)
	if err != nil {
		return nil, err
	}
	functions := p.functions
	done()
	if functions != nil {
		return functions, nil
	}
	_, functions, err = p.start(ctx)
	return functions, err
}

// askFunctions asks for the functions alone if the provider allows it: the schemas of a large provider take seconds.
func (p *process) askFunctions(ctx context.Context, opts Options) (map[string]*engine.Function, error) {
	var metadata pluginv1.MetadataResponse
	err := p.invoke(ctx, opts.CallTimeout, getMetadata, &pluginv1.Empty{}, &metadata)
	if err != nil && !errors.Is(err, errUnimplemented) {
		return nil, err
	}
	if err == nil && metadata.GetServerCapabilities().GetGetProviderSchemaOptional() {
		var response pluginv1.FunctionsResponse
		err := p.invoke(ctx, opts.CallTimeout, getFunctions, &pluginv1.Empty{}, &response)
		if err == nil {
			return p.decodeFunctions(response.GetFunctions(), response.GetDiagnostics())
		}
		if !errors.Is(err, errUnimplemented) {
			return nil, err
		}
	}
	var response pluginv1.SchemaResponse
	if err := p.invoke(ctx, opts.CallTimeout, getSchema, &pluginv1.Empty{}, &response); err != nil {
		return nil, err
	}
	return p.decodeFunctions(response.GetFunctions(), response.GetDiagnostics())
}

func (p *process) decodeFunctions(encoded map[string]*pluginv1.Function, diags []*pluginv1.Diagnostic) (map[string]*engine.Function, error) {
	for _, diag := range diags {
		if diag.GetSeverity() == pluginv1.Diagnostic_ERROR {
			said := strings.TrimSuffix(diag.GetSummary(), ".") + ". " + diag.GetDetail()
			return nil, &engine.FunctionError{Problem: "The provider failed to list its functions.", Said: strings.TrimSpace(said), Argument: -1}
		}
	}
	functions, err := schema.DecodeFunctions(encoded)
	if err != nil {
		return nil, fmt.Errorf("the provider's program %s: %w", p.name, err)
	}
	return functions, nil
}

// call calls a function. See [engine.FunctionCaller].
func (p *provider) call(ctx context.Context, name string, args []cty.Value) (cty.Value, error) {
	process, functions, err := p.start(ctx)
	if err != nil {
		return cty.NilVal, err
	}
	f, ok := functions[name]
	if !ok {
		return cty.NilVal, fmt.Errorf("the provider's program %s has no function %q", process.name, name)
	}
	request, err := encodeCall(name, f, args)
	if err != nil {
		return cty.NilVal, err
	}
	var response pluginv1.CallResponse
	err = process.invoke(ctx, p.opts.CallTimeout, callFunction, request, &response)
	if errors.Is(err, errUnimplemented) {
		return cty.NilVal, &engine.FunctionError{Problem: "The provider lists functions but does not let them be called.", Argument: -1}
	}
	if err != nil {
		return cty.NilVal, err
	}
	if failure := response.GetError(); failure != nil {
		return cty.NilVal, decodeError(failure)
	}
	result, err := decodeValue(response.GetResult(), f.Return)
	if err != nil {
		return cty.NilVal, &engine.FunctionError{
			Problem:  fmt.Sprintf("The provider returned something that is not a %s. That is a mistake in the provider.", f.Return.FriendlyName()),
			Said:     err.Error(),
			Argument: -1,
		}
	}
	return result, nil
}

func encodeCall(name string, f *engine.Function, args []cty.Value) (*pluginv1.CallRequest, error) {
	if n := len(args); n < len(f.Parameters) || n > len(f.Parameters) && f.Variadic == nil {
		return nil, fmt.Errorf("%d arguments for function %q, which has %d parameters", n, name, len(f.Parameters))
	}
	request := &pluginv1.CallRequest{Name: name}
	for i, arg := range args {
		encoded, err := ctymsgpack.Marshal(arg, f.Parameter(i).Type)
		if err != nil {
			return nil, fmt.Errorf("argument %d of function %q: %w", i, name, err)
		}
		request.Arguments = append(request.Arguments, &pluginv1.DynamicValue{Msgpack: encoded})
	}
	return request, nil
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

func decodeValue(encoded *pluginv1.DynamicValue, ty cty.Type) (cty.Value, error) {
	switch {
	case len(encoded.GetMsgpack()) > 0:
		return ctymsgpack.Unmarshal(encoded.GetMsgpack(), ty)
	case len(encoded.GetJson()) > 0:
		return ctyjson.Unmarshal(encoded.GetJson(), ty)
	default:
		return cty.NilVal, errors.New("there is no value")
	}
}
