// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package client

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/cairnstacks/cairn/internal/providers/plugin"
	"github.com/cairnstacks/cairn/internal/providers/schema"
	pluginv1 "github.com/cairnstacks/cairn/proto/cairn/plugin/v1"
)

// AskSchema asks a process for all its schemas. Each answer may take as long as timeout, or any
// time if that is 0. Warnings of the provider are dropped.
//
// Errors: those of [plugin.Process.Invoke]; those that the provider reports.
func AskSchema(ctx context.Context, process *plugin.Process, timeout time.Duration) (*pluginv1.SchemaAnswer, error) {
	answer := &pluginv1.SchemaAnswer{Schema: &pluginv1.SchemaResponse{}, Identities: &pluginv1.IdentitySchemasResponse{}}
	if err := ask(ctx, process, timeout, plugin.GetSchema, answer.Schema); err != nil {
		return nil, err
	}
	switch err := ask(ctx, process, timeout, plugin.GetIdentitySchemas, answer.Identities); {
	case errors.Is(err, plugin.ErrUnimplemented):
		answer.Identities = nil
	case err != nil:
		return nil, err
	}
	return answer, nil
}

// ask calls a method without arguments. Errors that the provider reports are one error.
func ask(ctx context.Context, process *plugin.Process, timeout time.Duration, method plugin.Method, response interface {
	proto.Message
	GetDiagnostics() []*pluginv1.Diagnostic
},
) error {
	if err := process.Invoke(ctx, timeout, method, &pluginv1.Empty{}, response); err != nil {
		return err
	}
	for _, diag := range response.GetDiagnostics() {
		if diag.GetSeverity() == pluginv1.Diagnostic_ERROR {
			said := strings.TrimSpace(strings.TrimSuffix(diag.GetSummary(), ".") + ". " + diag.GetDetail())
			return fmt.Errorf("the provider's program %s gives no schema: %s", process.Name(), said)
		}
	}
	return nil
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
