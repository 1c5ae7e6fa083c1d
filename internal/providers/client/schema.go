// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package client

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"google.golang.org/protobuf/proto"

	"github.com/cairnstacks/cairn/internal/providers/plugin"
	"github.com/cairnstacks/cairn/internal/providers/schema"
	pluginv1 "github.com/cairnstacks/cairn/proto/cairn/plugin/v1"
)

// AskSchema asks a process for all its schemas. Warnings of the provider are dropped.
//
// Errors: those of [plugin.Process.Invoke]; those that the provider reports.
func AskSchema(ctx context.Context, process *plugin.Process) (*pluginv1.SchemaAnswer, error) {
	answer := &pluginv1.SchemaAnswer{Schema: &pluginv1.SchemaResponse{}, Identities: &pluginv1.IdentitySchemasResponse{}}
	if err := ask(ctx, process, plugin.GetSchema, answer.Schema); err != nil {
		return nil, err
	}
	switch err := ask(ctx, process, plugin.GetIdentitySchemas, answer.Identities); {
	case errors.Is(err, plugin.ErrUnimplemented):
		answer.Identities = nil
	case err != nil:
		return nil, err
	}
	return answer, nil
}

// ask calls a method without arguments. Errors that the provider reports are one error.
func ask(ctx context.Context, process *plugin.Process, method plugin.Method, response interface {
	proto.Message
	GetDiagnostics() []*pluginv1.Diagnostic
},
) error {
	if err := process.Invoke(ctx, method, &pluginv1.Empty{}, response); err != nil {
		return err
	}
	if said := firstError(response.GetDiagnostics()); said != "" {
		return fmt.Errorf("the provider's program %s gives no schema: %s", process.Name(), said)
	}
	return nil
}

// firstError returns the text of the first error, empty if there is none.
func firstError(diags []*pluginv1.Diagnostic) string {
	for _, diag := range diags {
		if diag.GetSeverity() == pluginv1.Diagnostic_ERROR {
			return strings.TrimSpace(strings.TrimSuffix(diag.GetSummary(), ".") + ". " + diag.GetDetail())
		}
	}
	return ""
}

// AskFunctions asks a process for its functions, and for nothing else if the provider allows that:
// the schemas of a large provider take seconds. The result has no other schemas. Warnings of the
// provider are dropped.
//
// Errors: those of [plugin.Process.Invoke]; those that the provider reports; that the answer breaks
// the protocol.
func AskFunctions(ctx context.Context, process *plugin.Process) (*schema.Provider, error) {
	var metadata pluginv1.MetadataResponse
	err := process.Invoke(ctx, plugin.GetMetadata, &pluginv1.Empty{}, &metadata)
	if err != nil && !errors.Is(err, plugin.ErrUnimplemented) {
		return nil, err
	}
	optional := err == nil && metadata.GetServerCapabilities().GetGetProviderSchemaOptional()
	var answer interface {
		proto.Message
		GetFunctions() map[string]*pluginv1.Function
		GetDiagnostics() []*pluginv1.Diagnostic
	}
	if optional {
		answer = &pluginv1.FunctionsResponse{}
		err = process.Invoke(ctx, plugin.GetFunctions, &pluginv1.Empty{}, answer)
	}
	if !optional || errors.Is(err, plugin.ErrUnimplemented) {
		answer = &pluginv1.SchemaResponse{}
		err = process.Invoke(ctx, plugin.GetSchema, &pluginv1.Empty{}, answer)
	}
	if err != nil {
		return nil, err
	}
	if said := firstError(answer.GetDiagnostics()); said != "" {
		return nil, &plugin.Error{Problem: "The provider failed to list its functions.", Said: said}
	}
	functions, err := schema.DecodeFunctions(answer.GetFunctions())
	if err != nil {
		return nil, fmt.Errorf("the provider's program %s: %w", process.Name(), err)
	}
	return &schema.Provider{Functions: functions, Capabilities: schema.Capabilities{SchemaOptional: optional}}, nil
}

// DecodeSchema returns the schemas in an answer, of which the identities are missing if the
// provider does not know any.
//
// Errors: for an answer that breaks the protocol.
func DecodeSchema(answer *pluginv1.SchemaAnswer) (*schema.Provider, error) {
	found, err := schema.Decode(answer.GetSchema())
	if err != nil {
		return nil, fmt.Errorf("the provider gives a schema that cannot be used: %w", err)
	}
	if found.Identities, err = schema.DecodeIdentities(answer.GetIdentities()); err != nil {
		return nil, fmt.Errorf("the provider gives a schema that cannot be used: %w", err)
	}
	return found, nil
}
