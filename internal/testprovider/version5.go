// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package testprovider

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/hashicorp/terraform-plugin-go/tfprotov5"
	"github.com/hashicorp/terraform-plugin-go/tfprotov5/tf5server"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6/tf6server"
	"github.com/hashicorp/terraform-plugin-mux/tf6to5server"
)

// ProtocolVariable is the environment variable with the version of the plugin protocol that [Serve]
// speaks: 5, or else 6.
const ProtocolVariable = "CAIRN_FAKE_PROTOCOL"

// Serve makes this program the provider, until the program that has started it tells it to end.
func Serve() error {
	if os.Getenv(ProtocolVariable) != "5" {
		return tf6server.Serve(Address, New)
	}
	server, err := New5(context.Background())
	if err != nil {
		return err
	}
	return tf5server.Serve(Address, func() tfprotov5.ProviderServer { return server })
}

// New5 returns an instance of the provider for version 5 of the protocol, which has no nested
// attributes.
func New5(ctx context.Context) (tfprotov5.ProviderServer, error) {
	server, err := tf6to5server.DowngradeServer(ctx, func() tfprotov6.ProviderServer {
		s := New().(*server)
		for _, t := range s.types {
			t.removeNestedAttributes()
		}
		return s
	})
	if err != nil {
		return nil, fmt.Errorf("serving version 5 of the protocol: %w", err)
	}
	actions, ok := server.(tfprotov5.ActionServer)
	if !ok {
		return nil, errors.New("serving version 5 of the protocol: there are no actions")
	}
	lists, ok := server.(tfprotov5.ListResourceServer)
	if !ok {
		return nil, errors.New("serving version 5 of the protocol: there are no list resources")
	}
	return server5{server, actions, lists}, nil
}

// server5 adds the parts that the conversion omits.
type server5 struct {
	tfprotov5.ProviderServer
	tfprotov5.ActionServer
	tfprotov5.ListResourceServer
}

// wholeObjects is the key in contexts of a request for whole objects, which the conversion omits.
type wholeObjects struct{}

// ListResource implements [tfprotov5.ListResourceServer].
func (s server5) ListResource(ctx context.Context, req *tfprotov5.ListResourceRequest) (*tfprotov5.ListResourceServerStream, error) {
	return s.ListResourceServer.ListResource(context.WithValue(ctx, wholeObjects{}, req.IncludeResource), req)
}

// GetProviderSchema implements [tfprotov5.ProviderServer].
func (s server5) GetProviderSchema(
	ctx context.Context, req *tfprotov5.GetProviderSchemaRequest,
) (*tfprotov5.GetProviderSchemaResponse, error) {
	resp, err := s.ProviderServer.GetProviderSchema(ctx, req)
	if err != nil {
		return nil, err
	}
	all := capabilities()
	resp.ServerCapabilities = &tfprotov5.ServerCapabilities{
		GetProviderSchemaOptional: all.GetProviderSchemaOptional,
		MoveResourceState:         all.MoveResourceState,
		PlanDestroy:               all.PlanDestroy,
		GenerateResourceConfig:    all.GenerateResourceConfig,
	}
	return resp, nil
}

func (t *resourceType) removeNestedAttributes() {
	t.schema.Block.Attributes = slices.DeleteFunc(t.schema.Block.Attributes, func(a *tfprotov6.SchemaAttribute) bool {
		return a.NestedType != nil
	})
	t.ty = valueType(t.schema.ValueType())
}
