// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package providers

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"google.golang.org/protobuf/proto"

	"github.com/cairnstacks/cairn/internal/providers/schema"
	pluginv1 "github.com/cairnstacks/cairn/proto/cairn/plugin/v1"
)

var getIdentitySchemas = methodName{name: "GetResourceIdentitySchemas"}

// ReadSchema starts a provider, asks for its schemas, and ends it. Warnings of the provider are dropped.
//
// Errors: that the process could not be started; what the provider says; context.Cause(ctx).
func ReadSchema(ctx context.Context, binary string, opts Options) (*schema.Provider, error) {
	running, err := startProcess(ctx, binary, opts.withDefaults())
	if err != nil {
		return nil, err
	}
	defer running.end()
	return running.askSchema(ctx, opts.withDefaults())
}

func (p *process) askSchema(ctx context.Context, opts Options) (*schema.Provider, error) {
	var response pluginv1.SchemaResponse
	if err := p.ask(ctx, opts, getSchema, &response); err != nil {
		return nil, err
	}
	found, err := schema.Decode(&response)
	if err != nil {
		return nil, fmt.Errorf("the provider's program %s gives a schema that cannot be used: %w", p.name, err)
	}
	var identities pluginv1.IdentitySchemasResponse
	switch err := p.ask(ctx, opts, getIdentitySchemas, &identities); {
	case errors.Is(err, errUnimplemented):
		return found, nil
	case err != nil:
		return nil, err
	}
	if found.Identities, err = schema.DecodeIdentities(&identities); err != nil {
		return nil, fmt.Errorf("the provider's program %s gives a schema that cannot be used: %w", p.name, err)
	}
	return found, nil
}

// ask calls a method without arguments. Errors that the provider reports are one error.
func (p *process) ask(ctx context.Context, opts Options, method methodName, response interface {
	proto.Message
	GetDiagnostics() []*pluginv1.Diagnostic
},
) error {
	if err := p.invoke(ctx, opts.CallTimeout, method, &pluginv1.Empty{}, response); err != nil {
		return err
	}
	for _, diag := range response.GetDiagnostics() {
		if diag.GetSeverity() == pluginv1.Diagnostic_ERROR {
			said := strings.TrimSpace(strings.TrimSuffix(diag.GetSummary(), ".") + ". " + diag.GetDetail())
			return fmt.Errorf("the provider's program %s gives no schema: %s", p.name, said)
		}
	}
	return nil
}
