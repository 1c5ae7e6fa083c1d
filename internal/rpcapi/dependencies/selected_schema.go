// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package dependencies

import (
	"context"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/cairnstacks/cairn/internal/providers/instances"
	"github.com/cairnstacks/cairn/internal/providers/schema"
)

// ReadSchema starts the provider and returns its schemas.
//
// Errors: Internal, or that ctx has ended.
func (s Selected) ReadSchema(ctx context.Context, environ []string) (*schema.Provider, error) {
	program, err := s.Executable()
	if err == nil {
		var found *schema.Provider
		if found, err = instances.ReadSchema(ctx, program, withTLS(environ)); err == nil {
			return found, nil
		}
	}
	if ctx.Err() != nil {
		return nil, status.FromContextError(ctx.Err()).Err()
	}
	return nil, status.Errorf(codes.Internal, "the schema of %s cannot be read: %s", s.Provider, err)
}
