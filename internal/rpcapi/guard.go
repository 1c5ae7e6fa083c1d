// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package rpcapi

import (
	"context"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// beforeHandshake begin the methods that need no handshake: that of the handshake, and those of
// go-plugin and gRPC themselves.
var beforeHandshake = []string{"/terraform1.setup.", "/plugin.", "/grpc.health.", "/grpc.reflection."}

// maxStatusText is how long the text of a status may be, in bytes. It is sent in a header, and
// clients limit the size of headers: a longer one ends their connection.
const maxStatusText = 2 << 10

// guardUnary refuses calls before the handshake, makes a status of a panic (rule A2), and shortens
// texts of requests in a status.
func (s *Server) guardUnary(ctx context.Context, req any, info *grpc.UnaryServerInfo, handle grpc.UnaryHandler) (response any, err error) {
	if err := s.allows(info.FullMethod); err != nil {
		return nil, err
	}
	defer shortenStatus(&err)
	defer func() { err = s.withoutPanic(info.FullMethod, recover(), err) }()
	return handle(ctx, req)
}

// guardStream is guardUnary for streams.
func (s *Server) guardStream(server any, stream grpc.ServerStream, info *grpc.StreamServerInfo, handle grpc.StreamHandler) (err error) {
	if err := s.allows(info.FullMethod); err != nil {
		return err
	}
	defer shortenStatus(&err)
	defer func() { err = s.withoutPanic(info.FullMethod, recover(), err) }()
	return handle(server, stream)
}

// allows refuses whatever is not known to need no handshake: gRPC may take a path for a method that
// is written in another way, such as without its first slash.
func (s *Server) allows(method string) error {
	if s.setup.done() || slices.ContainsFunc(beforeHandshake, func(prefix string) bool { return strings.HasPrefix(method, prefix) }) {
		return nil
	}
	return status.Error(codes.Unavailable, "call Setup.Handshake first")
}

// withoutPanic returns the error of a call, or its substitute if the call has panicked.
func (s *Server) withoutPanic(method string, panicked any, err error) error {
	if panicked == nil {
		return err
	}
	s.opts.Log.Error("panic", "method", method, "type", fmt.Sprintf("%T", panicked), "stack", string(debug.Stack()))
	return status.Errorf(codes.Internal, "%s came upon a bug in cairn", strings.TrimPrefix(method, "/"))
}

// shortenStatus cuts the text of a status that is too long.
func shortenStatus(err *error) {
	said, ok := status.FromError(*err)
	if text := said.Message(); ok && len(text) > maxStatusText {
		*err = status.Error(said.Code(), strings.ToValidUTF8(text[:maxStatusText], "")+"…")
	}
}
