// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package providers

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/providers/client"
	"github.com/cairnstacks/cairn/internal/providers/plugin"
	"github.com/cairnstacks/cairn/internal/providers/schema"
	pluginv1 "github.com/cairnstacks/cairn/proto/cairn/plugin/v1"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// provider is the process of one provider and its answers.
type provider struct {
	binary string
	opts   Options

	// turn has an element while somebody uses the fields below it.
	turn      chan struct{}
	closed    bool
	running   *plugin.Process // nil before the first use
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
		p.running.End()
	}
}

// start returns a running process that may be called, and the functions.
func (p *provider) start(ctx context.Context) (*plugin.Process, map[string]*engine.Function, error) {
	done, err := p.take(ctx)
	if err != nil {
		return nil, nil, err
	}
	defer done()
	if p.closed {
		return nil, nil, errClosed
	}
	if p.running != nil && !p.running.Exited() {
		return p.running, p.functions, nil
	}
	p.running = nil
	started, err := p.opts.start(ctx, p.binary)
	if err != nil {
		return nil, nil, client.FunctionError(err)
	}
	functions, err := p.opts.askFunctions(ctx, started)
	if err != nil {
		started.End()
		return nil, nil, client.FunctionError(err)
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

// askFunctions asks for the functions alone if the provider allows it: the schemas of a large
// provider take seconds.
func (o Options) askFunctions(ctx context.Context, p *plugin.Process) (map[string]*engine.Function, error) {
	var metadata pluginv1.MetadataResponse
	err := p.Invoke(ctx, o.CallTimeout, plugin.GetMetadata, &pluginv1.Empty{}, &metadata)
	if err != nil && !errors.Is(err, plugin.ErrUnimplemented) {
		return nil, err
	}
	if err == nil && metadata.GetServerCapabilities().GetGetProviderSchemaOptional() {
		var response pluginv1.FunctionsResponse
		err := p.Invoke(ctx, o.CallTimeout, plugin.GetFunctions, &pluginv1.Empty{}, &response)
		if err == nil {
			return decodeFunctions(p, response.GetFunctions(), response.GetDiagnostics())
		}
		if !errors.Is(err, plugin.ErrUnimplemented) {
			return nil, err
		}
	}
	var response pluginv1.SchemaResponse
	if err := p.Invoke(ctx, o.CallTimeout, plugin.GetSchema, &pluginv1.Empty{}, &response); err != nil {
		return nil, err
	}
	return decodeFunctions(p, response.GetFunctions(), response.GetDiagnostics())
}

func decodeFunctions(
	p *plugin.Process, encoded map[string]*pluginv1.Function, diags []*pluginv1.Diagnostic,
) (map[string]*engine.Function, error) {
	for _, diag := range diags {
		if diag.GetSeverity() == pluginv1.Diagnostic_ERROR {
			said := strings.TrimSuffix(diag.GetSummary(), ".") + ". " + diag.GetDetail()
			return nil, &plugin.Error{Problem: "The provider failed to list its functions.", Said: strings.TrimSpace(said)}
		}
	}
	functions, err := schema.DecodeFunctions(encoded)
	if err != nil {
		return nil, fmt.Errorf("the provider's program %s: %w", p.Name(), err)
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
		return cty.NilVal, fmt.Errorf("the provider's program %s has no function %q", process.Name(), name)
	}
	return client.CallFunction(ctx, process, p.opts.CallTimeout, client.Function{Name: name, Signature: f}, args)
}
