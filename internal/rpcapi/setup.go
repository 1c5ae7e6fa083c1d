// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package rpcapi

import (
	"context"
	"sync"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	setuppb "github.com/cairnstacks/cairn/proto/terraform1/setup"
)

// setup is the service that comes first.
type setup struct {
	setuppb.UnimplementedSetupServer
	server *Server

	mu        sync.Mutex
	attempted bool
	succeeded bool
}

func (s *setup) done() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.succeeded
}

// Handshake implements [setuppb.SetupServer]. There is one attempt.
func (s *setup) Handshake(ctx context.Context, req *setuppb.Handshake_Request) (*setuppb.Handshake_Response, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.attempted {
		return nil, status.Error(codes.FailedPrecondition, "Setup.Handshake was called before: a process has one handshake")
	}
	s.attempted = true
	tokens := map[string]string{}
	for host, credential := range req.GetConfig().GetCredentials() {
		tokens[host] = credential.GetToken()
	}
	if err := s.server.dependencies.StoreCredentials(ctx, tokens); err != nil {
		return nil, status.Errorf(codes.Unknown, "the credentials were not stored: %s", err)
	}
	s.succeeded = true
	return &setuppb.Handshake_Response{Capabilities: &setuppb.ServerCapabilities{}}, nil
}

// Stop implements [setuppb.SetupServer].
func (s *setup) Stop(context.Context, *setuppb.Stop_Request) (*setuppb.Stop_Response, error) {
	s.server.stacks.Stop()
	return &setuppb.Stop_Response{}, nil
}
